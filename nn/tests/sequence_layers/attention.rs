//! Multi-head attention.

use aten::prelude::*;
use dispatch_nn::{AttentionMasks, Module, MultiheadAttention, MultiheadAttentionOptions};
use dispatch_runtime::prelude::*;

use crate::recording::{check, values};

const QUERIES: &[i64] = &[3, 2, 4];
const KEYS: &[i64] = &[5, 2, 4];

fn attention(options: MultiheadAttentionOptions) -> Result<MultiheadAttention> {
    MultiheadAttention::with(4, 2, options)
}

fn plain(module: &MultiheadAttention, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
    Ok(vec![module.forward(&inputs[0], &inputs[1], &inputs[2])?])
}

#[test]
fn options_are_those_of_pytorch() {
    let defaults = MultiheadAttentionOptions::default();
    for (name, options) in [
        ("plain", defaults),
        ("no_bias", MultiheadAttentionOptions { bias: false, ..defaults }),
        ("bias_kv", MultiheadAttentionOptions { add_bias_kv: true, ..defaults }),
        ("zero", MultiheadAttentionOptions { add_zero_attn: true, ..defaults }),
    ] {
        check(&format!("attention_{name}"), attention(options), &[QUERIES, KEYS, KEYS], plain);
    }
    let sizes = MultiheadAttentionOptions { kdim: Some(3), vdim: Some(5), ..defaults };
    check("attention_sizes", attention(sizes), &[QUERIES, &[5, 2, 3], &[5, 2, 5]], plain);
    let first = MultiheadAttentionOptions { batch_first: true, ..defaults };
    check("attention_batch_first", attention(first), &[&[2, 3, 4], &[2, 5, 4], &[2, 5, 4]], plain);
    let dropout = attention(MultiheadAttentionOptions { dropout: 0.5, ..defaults }).map(|mut module| {
        module.eval();
        module
    });
    check("attention_dropout", dropout, &[QUERIES, KEYS, KEYS], plain);
    check("attention_self", attention(defaults), &[QUERIES], |module, inputs| {
        Ok(vec![module.forward(&inputs[0], &inputs[0], &inputs[0])?])
    });
}

#[test]
fn weights_are_those_of_pytorch() {
    for (name, sizes, average) in [
        ("weights", [QUERIES, KEYS, KEYS], true),
        ("head_weights", [QUERIES, KEYS, KEYS], false),
        ("unbatched", [&[3, 4], &[5, 4], &[5, 4]], true),
    ] {
        let module = attention(MultiheadAttentionOptions::default());
        check(&format!("attention_{name}"), module, &sizes, |module, inputs| {
            let (query, key, value) = (&inputs[0], &inputs[1], &inputs[2]);
            let (result, weights) =
                module.forward_with_weights(query, key, value, AttentionMasks::default(), average)?;
            Ok(vec![result, weights])
        });
    }
}

#[test]
fn masks_are_those_of_pytorch_with_and_without_weights() -> Result<()> {
    let padding = Tensor::from([[false, false, true, false, false], [false, false, false, true, true]]);
    let pairs = {
        let mut pairs = [[[false; 5]; 3]; 4];
        for row in &mut pairs {
            row[0][1] = true;
        }
        (pairs[1][2][3], pairs[3][1][4]) = (true, true);
        Tensor::from(pairs)
    };
    let all =
        MultiheadAttentionOptions { add_bias_kv: true, add_zero_attn: true, ..MultiheadAttentionOptions::default() };
    for (kind, options) in [("attention", MultiheadAttentionOptions::default()), ("attention_all", all)] {
        for (name, attn_mask, key_padding_mask) in [
            ("padding", None, Some(&padding)),
            ("numbers", Some(values(300, &[3, 5], DType::F64)?), None),
            ("pairs", Some(pairs.clone()), None),
            ("both", Some(pairs.clone()), Some(&padding)),
        ] {
            check(&format!("{kind}_mask_{name}"), attention(options), &[QUERIES, KEYS, KEYS], |module, inputs| {
                let (query, key, value) = (&inputs[0], &inputs[1], &inputs[2]);
                let number_mask =
                    |mask: &Tensor| if mask.is_floating_point() { mask.to(query.dtype()) } else { Ok(mask.clone()) };
                let attn_mask = attn_mask.as_ref().map(number_mask).transpose()?;
                let masks = AttentionMasks { attn_mask: attn_mask.as_ref(), key_padding_mask, is_causal: false };
                let (result, weights) = module.forward_with_weights(query, key, value, masks, true)?;
                let other = module.forward_masked(query, key, value, masks)?;
                assert!(result.allclose(&other)?, "{kind} {name}: the result differs without weights");
                Ok(vec![result, weights])
            });
        }
    }
    let causal = |key_padding_mask| AttentionMasks { is_causal: true, key_padding_mask, attn_mask: None };
    check("attention_causal", attention(MultiheadAttentionOptions::default()), &[QUERIES], |module, inputs| {
        Ok(vec![module.forward_masked(&inputs[0], &inputs[0], &inputs[0], causal(None))?])
    });
    let padding = padding.narrow(1, 0, 3)?;
    check("attention_causal_padding", attention(all), &[QUERIES], |module, inputs| {
        let x = &inputs[0];
        let (result, weights) = module.forward_with_weights(x, x, x, causal(Some(&padding)), true)?;
        Ok(vec![result, weights])
    });
    Ok(())
}

#[test]
fn initial_values_are_those_of_pytorch() -> Result<()> {
    let options = MultiheadAttentionOptions { add_bias_kv: true, ..MultiheadAttentionOptions::default() };
    let module = MultiheadAttention::with(256, 4, options)?;
    let weight = module.in_proj_weight.as_ref().expect("a packed weight");
    let bound = (6.0_f32 / (256.0 * 4.0)).sqrt();
    let (largest, deviation) = (weight.abs()?.max()?.item::<f32>()?, weight.std()?.item::<f32>()?);
    assert!(largest <= bound && largest > 0.999 * bound, "{largest} {bound}");
    assert!((deviation / (bound / 3.0_f32.sqrt()) - 1.0).abs() < 0.01, "{deviation}");
    for zeros in [module.in_proj_bias.as_ref(), module.out_proj.bias.as_ref()] {
        assert!(zeros.expect("a bias").eq(0.0)?.all()?.item::<bool>()?);
    }
    let largest = module.out_proj.weight.abs()?.max()?.item::<f32>()?;
    assert!(largest <= 1.0 / 16.0 && largest > 0.999 / 16.0, "{largest}");
    let deviation = module.bias_k.as_ref().expect("a key").std()?.item::<f32>()?;
    assert!((deviation * 16.0 - 1.0).abs() < 0.2, "{deviation}");
    Ok(())
}

#[test]
fn dropout_is_active_while_training() -> Result<()> {
    let module = attention(MultiheadAttentionOptions { dropout: 0.5, ..MultiheadAttentionOptions::default() })?;
    let x = values(1, &[50, 2, 4], DType::F32)?;
    let (_, weights) = module.forward_with_weights(&x, &x, &x, AttentionMasks::default(), false)?;
    let zeros = weights.eq(0.0)?.to(DType::F32)?.mean()?.item::<f32>()?;
    assert!((zeros - 0.5).abs() < 0.05, "{zeros}");
    assert!(!module.forward(&x, &x, &x)?.allclose(&module.forward(&x, &x, &x)?)?);
    Ok(())
}

#[test]
fn mistakes_are_errors_that_name_the_argument() -> Result<()> {
    let message = |result: Result<MultiheadAttention>| result.unwrap_err().to_string();
    assert!(message(MultiheadAttention::new(6, 4)).contains("`num_heads`"));
    assert!(MultiheadAttention::new(i64::MAX, 1).is_err());
    assert!(message(MultiheadAttention::new(0, 1)).contains("`embed_dim`"));
    let dropout = MultiheadAttentionOptions { dropout: 1.5, ..MultiheadAttentionOptions::default() };
    assert!(message(attention(dropout)).contains("`dropout`"));
    let module = MultiheadAttention::new(4, 2)?;
    let (x, narrow) = (Tensor::zeros((3, 2, 4), ())?, Tensor::zeros((3, 2, 5), ())?);
    assert!(module.forward(&narrow, &narrow, &narrow).unwrap_err().to_string().contains("`query`"));
    assert!(module.forward(&x, &narrow, &narrow).is_err());
    let mut missing = module;
    missing.in_proj_weight = None;
    assert!(missing.forward(&x, &x, &x).unwrap_err().to_string().contains("`in_proj_weight`"));
    Ok(())
}
