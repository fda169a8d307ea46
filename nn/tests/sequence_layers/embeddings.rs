//! Embeddings.

use aten::BagMode;
use aten::prelude::*;
use dispatch_nn::{Embedding, EmbeddingBag, EmbeddingBagOptions, EmbeddingOptions, Forward, Module};
use dispatch_runtime::prelude::*;

use crate::recording::{check, indices};

#[test]
fn embeddings_are_those_of_pytorch() {
    let defaults = EmbeddingOptions::default();
    for (name, options) in [
        ("plain", defaults),
        ("padding", EmbeddingOptions { padding_idx: Some(-1), ..defaults }),
        ("frequency", EmbeddingOptions { scale_grad_by_freq: true, ..defaults }),
        ("norm", EmbeddingOptions { max_norm: Some(0.5), norm_type: 1.0, ..defaults }),
    ] {
        check(&format!("embedding_{name}"), Embedding::with(6, 3, options), &[], |module, _| {
            Ok(vec![module.forward(&indices(6, &[2, 5])?)?])
        });
    }
}

#[test]
fn bags_are_those_of_pytorch() {
    let defaults = EmbeddingBagOptions::default();
    let sum = EmbeddingBagOptions { mode: BagMode::Sum, ..defaults };
    let offsets = Tensor::from([0_i64, 3, 3, 7]);
    for (name, options) in [
        ("mean", defaults),
        ("sum", sum),
        ("max", EmbeddingBagOptions { mode: BagMode::Max, ..defaults }),
        ("padding", EmbeddingBagOptions { padding_idx: Some(2), ..defaults }),
        ("frequency", EmbeddingBagOptions { scale_grad_by_freq: true, ..sum }),
        ("norm", EmbeddingBagOptions { max_norm: Some(0.5), ..defaults }),
    ] {
        let bag = || EmbeddingBag::with(6, 3, options);
        check(&format!("bag_{name}_rows"), bag(), &[], |module, _| Ok(vec![module.forward(&indices(6, &[2, 5])?)?]));
        check(&format!("bag_{name}_offsets"), bag(), &[], |module, _| {
            Ok(vec![module.forward_offsets(&indices(6, &[10])?, &offsets, None)?])
        });
    }
    let last = EmbeddingBag::with(6, 3, EmbeddingBagOptions { include_last_offset: true, ..defaults });
    check("bag_last_offset", last, &[], |module, _| {
        Ok(vec![module.forward_offsets(&indices(6, &[10])?, &Tensor::from([0_i64, 3, 3, 10]), None)?])
    });
    let weighted = || EmbeddingBag::with(6, 3, sum);
    check("bag_weighted_rows", weighted(), &[&[2, 5]], |module, inputs| {
        Ok(vec![module.forward_weighted(&indices(6, &[2, 5])?, &inputs[0])?])
    });
    check("bag_weighted_offsets", weighted(), &[&[10]], |module, inputs| {
        Ok(vec![module.forward_offsets(&indices(6, &[10])?, &offsets, Some(&inputs[0]))?])
    });
}

#[test]
fn tables_are_normal_with_a_row_of_zeros() -> Result<()> {
    let options = EmbeddingOptions { padding_idx: Some(7), ..EmbeddingOptions::default() };
    let table = Embedding::with(1000, 100, options)?.weight;
    assert_eq!(table.i(7)?.to_vec::<f32>()?, [0.0; 100]);
    let (mean, deviation) = (table.mean()?.item::<f32>()?, table.std()?.item::<f32>()?);
    // 100,000 numbers: the standard errors are 0.003 and 0.002.
    assert!(mean.abs() < 0.015 && (deviation - 1.0).abs() < 0.012, "{mean} {deviation}");
    let options = EmbeddingBagOptions { padding_idx: Some(-1), ..EmbeddingBagOptions::default() };
    assert_eq!(EmbeddingBag::with(4, 2, options)?.weight.i(3)?.to_vec::<f32>()?, [0.0; 2]);
    Ok(())
}

#[test]
fn pretrained_tables_are_frozen_and_keep_their_padding() -> Result<()> {
    let table = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
    let embedding = Embedding::from_pretrained(table.clone())?;
    assert!(!embedding.weight.requires_grad());
    assert_eq!(embedding.forward(&Tensor::from([1_i64]))?.to_vec::<f64>()?, [3.0, 4.0]);
    embedding.requires_grad_(true)?;
    assert!(embedding.forward(&Tensor::from([1_i64]))?.requires_grad());
    let options = EmbeddingBagOptions { padding_idx: Some(0), ..EmbeddingBagOptions::default() };
    let bag = EmbeddingBag::from_pretrained_with(table, options)?;
    assert_eq!(bag.forward(&Tensor::from([[0_i64, 1]]))?.to_vec::<f64>()?, [3.0, 4.0]);
    Ok(())
}

#[test]
fn mistakes_are_errors_that_name_the_argument() -> Result<()> {
    let message = |error: Error| error.to_string();
    let wrong = Embedding::with(4, 2, EmbeddingOptions { padding_idx: Some(4), ..EmbeddingOptions::default() });
    assert!(message(wrong.unwrap_err()).contains("`padding_idx`"));
    let options =
        EmbeddingBagOptions { mode: BagMode::Max, scale_grad_by_freq: true, ..EmbeddingBagOptions::default() };
    assert!(message(EmbeddingBag::with(4, 2, options).unwrap_err()).contains("`scale_grad_by_freq`"));
    assert!(message(Embedding::from_pretrained(Tensor::from([1.0])).unwrap_err()).contains("`embeddings`"));
    assert!(Embedding::new(-1, 2).is_err() && Embedding::new(i64::MAX, i64::MAX).is_err());
    let smallest = EmbeddingOptions { padding_idx: Some(i64::MIN), ..EmbeddingOptions::default() };
    assert!(Embedding::with(4, 2, smallest).is_err());
    let layer = Embedding::new(4, 2)?;
    assert!(layer.forward(&Tensor::from([4_i64])).is_err());
    assert!(layer.forward(&Tensor::from([0.5])).is_err());
    let bag = EmbeddingBag::new(4, 2)?;
    assert!(message(bag.forward(&Tensor::from([1_i64])).unwrap_err()).contains("forward_offsets"));
    assert!(bag.forward_weighted(&Tensor::from([[1_i64]]), &Tensor::from([[1.0_f32]])).is_err());
    Ok(())
}
