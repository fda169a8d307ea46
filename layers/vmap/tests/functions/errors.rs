//! Tests of errors of mapped functions, and that an error leaves no level behind.

use std::panic::{AssertUnwindSafe, catch_unwind};

use aten::prelude::*;
use dispatch_runtime::prelude::*;
use dispatch_vmap::{Mapped, Randomness, Vmap, VmapError, vmap};

use crate::{assert_close, elements_as_f64, varied_tensor, vmap_error};

#[test]
fn item_of_a_batched_tensor_is_an_error() {
    let error = vmap(|x| Ok(Tensor::from(x.select(0, 0)?.item::<f64>()?)), varied_tensor(&[2, 3])).unwrap_err();
    assert!(matches!(vmap_error(&error), VmapError::NonTensorResult { .. }), "{error}");
    assert!(error.to_string().contains("where"), "the error names the remedy: {error}");
}

#[test]
fn control_flow_on_elements_is_an_error() {
    let f = |x: &Tensor| if aten::is_nonzero(&x.sum()?)? { x.exp() } else { -x };
    let error = vmap(f, varied_tensor(&[2, 3])).unwrap_err();
    assert!(matches!(vmap_error(&error), VmapError::NonTensorResult { .. }), "{error}");
    let f = |x: &Tensor| if aten::equal(x, &(-x)?)? { x.exp() } else { -x };
    let error = vmap(f, varied_tensor(&[2, 3])).unwrap_err();
    assert!(matches!(vmap_error(&error), VmapError::NonTensorResult { .. }), "{error}");
}

#[test]
fn copying_elements_to_a_vector_is_an_error() {
    let error = vmap(|x| Ok(Tensor::from_slice(&x.to_vec::<f64>()?)), varied_tensor(&[2, 3])).unwrap_err();
    assert!(!error.to_string().is_empty());
}

#[test]
fn data_dependent_sizes_are_an_error() {
    let refused: [fn(&Tensor) -> Result<Tensor>; 4] = [
        Tensor::nonzero,
        |x| x.masked_select(&x.gt(0)?),
        |x| Ok(aten::unique_consecutive(x, false, false, None)?.0),
        |x| aten::index(x, &[Some(x.gt(0)?)]),
    ];
    for f in refused {
        let error = vmap(f, varied_tensor(&[2, 3])).unwrap_err();
        assert!(matches!(vmap_error(&error), VmapError::DataDependent { .. }), "{error}");
    }
}

#[test]
fn elements_of_an_unmapped_tensor_can_be_read() {
    let threshold = Tensor::from(0.5);
    let f = |x: &Tensor| if threshold.item::<f64>()? > 0.0 { x.exp() } else { -x };
    assert_close(&vmap(f, varied_tensor(&[2, 3])).unwrap(), &varied_tensor(&[2, 3]).exp().unwrap());
}

#[test]
fn sizes_and_dtypes_of_a_batched_tensor_can_be_read() {
    let f = |x: &Tensor| {
        assert_eq!((x.sizes(), x.strides(), x.dtype()), (&[3_i64][..], &[1_i64][..], DType::F64));
        x.exp()
    };
    vmap(f, varied_tensor(&[2, 3])).unwrap();
}

#[test]
fn an_error_of_an_operator_names_the_sizes_of_a_slice() {
    let error = vmap(|x| x.reshape(17), varied_tensor(&[2, 3])).unwrap_err();
    assert!(error.to_string().contains("17"), "{error}");
    let error = vmap(|x| x.select(1, 0), varied_tensor(&[2, 3])).unwrap_err();
    assert!(error.to_string().contains("dim"), "a slice has one dimension: {error}");
}

#[test]
fn an_error_of_the_function_is_returned_and_ends_the_level() {
    let error = vmap(|x| x.mm(x), varied_tensor(&[2, 3])).unwrap_err();
    assert!(error.to_string().contains("mm"), "{error}");
    assert_eq!(dispatch_transform::depth(), 0);
    assert_close(&varied_tensor(&[2, 3]).exp().unwrap(), &vmap(Tensor::exp, varied_tensor(&[2, 3])).unwrap());
}

#[test]
fn a_panic_ends_the_level() {
    let x = varied_tensor(&[2, 3]);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        vmap(|_| vmap(|_| -> Result<Tensor> { panic!("on purpose") }, varied_tensor(&[4])), &x)
    }));
    assert!(panicked.is_err());
    assert_eq!(dispatch_transform::depth(), 0);
    assert_close(&vmap(Tensor::exp, &x).unwrap(), &x.exp().unwrap());
}

#[test]
fn an_error_in_an_inner_level_keeps_the_outer_level() {
    let f = |x: &Tensor| {
        assert!(vmap(|_| x.reshape(17), varied_tensor(&[4])).is_err());
        assert_eq!(dispatch_transform::depth(), 1);
        x.exp()
    };
    assert_close(&vmap(f, varied_tensor(&[2, 3])).unwrap(), &varied_tensor(&[2, 3]).exp().unwrap());
}

#[test]
fn an_error_inside_of_a_batch_rule_keeps_the_level() {
    let f = |x: &Tensor| {
        assert!(x.mm(&varied_tensor(&[7, 7])).is_err());
        x.exp()
    };
    assert_close(&vmap(f, varied_tensor(&[2, 3, 3])).unwrap(), &varied_tensor(&[2, 3, 3]).exp().unwrap());
}

#[test]
fn a_tensor_that_outlives_its_level_is_the_batch() {
    let mut kept = None;
    let (x, slot) = (varied_tensor(&[2, 3]), std::cell::RefCell::new(&mut kept));
    vmap(
        |row| {
            slot.borrow_mut().replace(row.clone());
            row.exp()
        },
        &x,
    )
    .unwrap();
    let outlived = kept.unwrap();
    let found = outlived.exp().map(|found| (found.sizes().to_vec(), elements_as_f64(&found)));
    assert_eq!(found.unwrap(), (vec![2, 3], elements_as_f64(&x.exp().unwrap())), "it is the tensor below");
}

#[test]
fn options_do_not_affect_later_calls() {
    let different = Vmap::new().randomness(Randomness::Different);
    different.call(Tensor::rand_like, varied_tensor(&[2, 3])).unwrap();
    let error = vmap(Tensor::rand_like, varied_tensor(&[2, 3])).unwrap_err();
    assert!(matches!(vmap_error(&error), VmapError::RandomnessNotChosen { .. }), "{error}");
}

#[test]
fn every_error_message_names_the_remedy() {
    let (x, y) = (varied_tensor(&[2, 3]), varied_tensor(&[3, 3]));
    let mismatch = vmap(|(x, y)| x + y, (&x, &y)).unwrap_err();
    assert!(mismatch.to_string().contains("the same size"), "{mismatch}");
    let nothing = Vmap::new().in_dims([None]).call(Tensor::exp, &x).unwrap_err();
    assert!(nothing.to_string().contains("in_dims"), "{nothing}");
    let shared = vmap(|row| y.clone().add_(row).map(|()| y.clone()), &x).unwrap_err();
    assert!(shared.to_string().contains("map over"), "{shared}");
}

/// Each call fails for one slice of these sizes, although a batch of such slices would be a valid argument.
#[test]
fn a_call_that_is_invalid_for_a_slice_is_invalid_for_a_batch() {
    type InvalidCall = fn(&Tensor) -> Result<Tensor>;
    let refused: [(&[i64], InvalidCall); 15] = [
        (&[3], |x| x.triu(0)),
        (&[3], |x| x.tril(0)),
        (&[3], |x| aten::constant_pad_nd(x, &[1, 1, 2, 2], 0.into())),
        (&[], |x| x.mm(&varied_tensor(&[3, 2]))),
        (&[3], |x| varied_tensor(&[2, 3]).mm(x)),
        (&[], |x| varied_tensor(&[2, 3]).mm(x)),
        (&[], |x| aten::embedding(x, &Tensor::from([0_i64]), -1, false, false)),
        (&[3, 4, 4], |x| aten::upsample_nearest2d(x, &[6, 6], None, None)),
        (&[2, 2], |x| aten::layer_norm(&varied_tensor(&[2, 4]), &[4], Some(x), None, 1e-5, false)),
        (&[3], |x| aten::mse_loss(x, x, 7)),
        (&[1, 3], |x| aten::copy(&varied_tensor(&[3]), x, false)),
        (&[3], |x| x.clone().add_(varied_tensor(&[1, 3])).map(|()| x.clone())),
        (&[4, 2], |x| aten::index(x, &[Some(Tensor::from([true, false, true]))])),
        (&[2, 2], |x| aten::index_select(&varied_tensor(&[4, 3]), 0, &x.to(DType::I64)?)),
        (&[4, 3], |x| aten::index_add(x, 0, &x.select(1, 0)?.to(DType::I64)?, &varied_tensor(&[5, 3]), 1.into())),
    ];
    for (i, (sizes, call)) in refused.into_iter().enumerate() {
        let alone = call(&varied_tensor(sizes)).unwrap_err();
        let found = vmap(call, varied_tensor(&[&[3], sizes].concat())).unwrap_err();
        assert_eq!(found.to_string(), alone.to_string(), "call {i}");
    }
}

#[test]
fn an_index_out_of_range_does_not_read_the_next_slice() {
    let (tables, lists) = (varied_tensor(&[2, 3, 2]), Tensor::from([[3_i64, 0], [1, 2]]));
    let error = vmap(|(table, list)| aten::embedding(table, list, -1, false, false), (&tables, &lists)).unwrap_err();
    assert!(error.to_string().contains("index 3"), "{error}");
    let grads = varied_tensor(&[2, 2, 2]);
    let back = |(grad, list): &(Tensor, Tensor)| aten::embedding_dense_backward(grad, list, 3, -1, false);
    let error = vmap(back, (&grads, &lists)).unwrap_err();
    assert!(error.to_string().contains("index 3"), "{error}");
}

#[test]
fn the_slice_rank_of_a_zero_dimensional_tensor_is_zero() {
    assert_eq!(Mapped::from_batch_first(Tensor::from(1.0)).slice_rank(), 0);
}

#[test]
fn overflowing_arguments_do_not_panic() {
    let (image, weight) = (varied_tensor(&[2, 1, 1, 4]), varied_tensor(&[2, 1, 1, 3]));
    let backward = |image: &Tensor, weight: &Tensor| {
        let grad = image.narrow(2, 0, 2)?;
        let bias_sizes = Some(&[i64::MAX][..]);
        let mask = [true; 3];
        Ok(aten::convolution_backward(&grad, image, weight, bias_sizes, &[1], &[0], &[1], false, &[0], 1, &mask)?.0)
    };
    let each = vmap(|(image, weight)| backward(image, weight), (&image, &weight)).unwrap();
    assert_eq!(each.sizes(), [2, 1, 1, 4]);
    let (none, of_none) = (varied_tensor(&[2, 1, 0, 4]), varied_tensor(&[2, 0, 0, 3]));
    let convolved = |groups| {
        vmap(
            |(image, weight)| aten::convolution(image, weight, None, &[1], &[0], &[1], false, &[0], groups),
            (&none, &of_none),
        )
    };
    assert_eq!(convolved(1).unwrap().sizes(), [2, 1, 0, 2]);
    // There are no channels to group, so the number of groups does not matter.
    assert_eq!(convolved(i64::MAX).unwrap().sizes(), [2, 1, 0, 2]);
}
