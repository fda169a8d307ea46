//! Tests of mapped functions, nested levels, and errors.

use aten::prelude::*;
use dispatch_autograd::Differentiable;
use dispatch_autograd::functional::{grad, vjp};
use dispatch_runtime::Spec;
use dispatch_runtime::prelude::*;
use dispatch_vmap::{Randomness, Vmap, VmapError, vmap};

use crate::{elements_as_f64, varied_tensor, vmap_error};

#[test]
fn maps_nest() {
    let (x, y) = (varied_tensor(&[3]), varied_tensor(&[4]));
    let table = vmap(|x| vmap(|y| x * y, &y), &x).unwrap();
    let outer = (x.unsqueeze(1).unwrap() * &y).unwrap();
    assert_eq!((table.sizes(), elements_as_f64(&table)), (&[3_i64, 4][..], elements_as_f64(&outer)));
    assert_eq!(dispatch_transform::depth(), 0);
}

#[test]
fn vmap_of_grad_is_the_gradient_of_each_sample() {
    let (w, x) = (varied_tensor(&[3]), varied_tensor(&[5, 3]));
    let loss = |x: &Tensor| {
        grad(
            |w| {
                let y = w.dot(x)?;
                &y * &y
            },
            &w,
        )
    };
    let each = vmap(loss, &x).unwrap();
    for i in 0..5 {
        let row = x.select(0, i).unwrap();
        assert_eq!(elements_as_f64(&each.select(0, i).unwrap()), elements_as_f64(&loss(&row).unwrap()));
    }
}

#[test]
fn grad_of_vmap_is_the_gradient_of_the_batch() {
    let (w, x) = (varied_tensor(&[3]), varied_tensor(&[5, 3]));
    let through = grad(|w| vmap(|x| x.dot(w)?.sin(), &x)?.sum(), &w).unwrap();
    let plain = grad(|w| x.mv(w)?.sin()?.sum(), &w).unwrap();
    assert_eq!(elements_as_f64(&through), elements_as_f64(&plain));

    let w = w.requires_grad_(true).unwrap();
    vmap(|x| x.dot(&w)?.sin(), &x).unwrap().sum().unwrap().backward().unwrap();
    assert_eq!(elements_as_f64(&w.grad().unwrap()), elements_as_f64(&plain));
}

#[test]
fn vmap_of_a_pullback_is_a_jacobian() {
    let x = varied_tensor(&[3]);
    let (_, pullback) = vjp(|x| x * x, &x).unwrap();
    let jacobian = vmap(|row| pullback.call(row), Tensor::eye(3, DType::F64).unwrap()).unwrap();
    let doubled = (x * 2.0).unwrap().diag(0).unwrap();
    assert_eq!(elements_as_f64(&jacobian), elements_as_f64(&doubled));
}

#[test]
fn in_place_writes_reach_the_batch_through_views() {
    let x = varied_tensor(&[2, 3]);
    let before = elements_as_f64(&x);
    vmap(
        |row| {
            let first = row.select(0, 0)?;
            first.mul_(Tensor::number(10.into()))?;
            aten::clone(row, None)
        },
        &x,
    )
    .unwrap();
    let expected: Vec<f64> = before.iter().enumerate().map(|(i, x)| if i % 3 == 0 { x * 10.0 } else { *x }).collect();
    assert_eq!(elements_as_f64(&x), expected);
}

#[test]
fn a_write_of_slices_to_an_unmapped_tensor_is_an_error() {
    let (x, shared) = (varied_tensor(&[2, 3]), varied_tensor(&[3]));
    let error = vmap(
        |row| {
            let y = shared.clone();
            y.add_(row)?;
            Ok(y)
        },
        &x,
    )
    .unwrap_err();
    assert!(
        matches!(vmap_error(&error), VmapError::WriteToUnbatched { argument, .. } if argument == "self"),
        "{error}"
    );
}

#[test]
fn reading_elements_of_a_batched_tensor_is_an_error() {
    let x = varied_tensor(&[2, 3]);
    let error = vmap(|row| Ok(Tensor::from(row.sum()?.item::<f64>()?)), &x).unwrap_err();
    assert!(matches!(vmap_error(&error), VmapError::NonTensorResult { .. }), "{error}");
    vmap(
        |row| {
            assert!(row.read::<f64>().is_err());
            aten::clone(row, None)
        },
        &x,
    )
    .unwrap();
    let error = vmap(Tensor::nonzero, &x).unwrap_err();
    assert!(matches!(vmap_error(&error), VmapError::DataDependent { .. }), "{error}");
}

#[test]
fn inputs_without_a_common_batch_size_are_an_error() {
    let (x, y) = (varied_tensor(&[2, 3]), varied_tensor(&[3, 3]));
    let both = |vmap: Vmap| vmap.call(|(x, y)| x + y, (&x, &y)).unwrap_err();
    let error = both(Vmap::new());
    assert_eq!(vmap_error(&error), &VmapError::BatchSizeMismatch { expected: 2, position: 1, found: 3 });
    let error = both(Vmap::new().in_dims([None, None]));
    assert_eq!(vmap_error(&error), &VmapError::NoMappedInput);
    let error = both(Vmap::new().in_dims([Some(0)]));
    assert_eq!(vmap_error(&error), &VmapError::WrongDimCount { argument: "in_dims", found: 1, tensors: 2 });
    let error = both(Vmap::new().in_dims([Some(2), None]));
    assert_eq!(vmap_error(&error), &VmapError::MissingDim { argument: "in_dims", position: 0, dim: 2, rank: 2 });
    let error = Vmap::new().out_dims([None]).call(|x| x + 1.0, &x).unwrap_err();
    assert_eq!(vmap_error(&error), &VmapError::MappedResultWithoutDim { position: 0 });
    let error = vmap(|x| x + 1.0, varied_tensor(&[0, 3])).unwrap_err();
    assert_eq!(vmap_error(&error), &VmapError::EmptyBatch);
    let error = Vmap::new().chunk_size(0).call(|x| x + 1.0, &x).unwrap_err();
    assert_eq!(vmap_error(&error), &VmapError::InvalidChunkSize { chunk_size: 0 });
    let many = Spec::contiguous(DType::F32, &[1 << 60]).on(Device::META).unwrap();
    let error = Vmap::new().chunk_size(3).call(|x| x + 1.0, &many).unwrap_err();
    assert!(error.to_string().starts_with("argument `chunk_size` is 3, but must be more"), "{error}");
}

#[test]
fn an_unmapped_result_is_expanded() {
    let (x, y) = (varied_tensor(&[2, 3]), varied_tensor(&[3]));
    let repeated = vmap(|_| Ok(y.clone()), &x).unwrap();
    assert_eq!(
        (repeated.sizes(), elements_as_f64(&repeated)),
        (&[2_i64, 3][..], [elements_as_f64(&y), elements_as_f64(&y)].concat())
    );
}

#[test]
fn randomness_selects_same_or_different_random_numbers() {
    let x = Tensor::zeros([4, 3], DType::F64).unwrap();
    let noisy = |row: &Tensor| row + &Tensor::rand(3, DType::F64)?;
    let error = vmap(noisy, &x).unwrap_err();
    assert!(matches!(vmap_error(&error), VmapError::RandomnessNotChosen { .. }), "{error}");
    let rows = |randomness, f: &dyn Fn(&Tensor) -> Result<Tensor>| {
        let result = Vmap::new().randomness(randomness).call(f, &x).unwrap();
        (0..4).map(|i| elements_as_f64(&result.select(0, i).unwrap())).collect::<Vec<_>>()
    };
    for f in [&noisy as &dyn Fn(&Tensor) -> Result<Tensor>, &|row| aten::bernoulli(&(row + 0.5)?, None), &|row| {
        row.rand_like()
    }] {
        let same = rows(Randomness::Same, f);
        assert!(same.iter().all(|row| *row == same[0]));
    }
    let different = rows(Randomness::Different, &noisy);
    assert!(different[1..].iter().all(|row| *row != different[0]));
}

#[test]
fn chunks_give_the_same_result_as_one_run() {
    let x = varied_tensor(&[5, 3, 2]);
    let f = |x: &Tensor| Ok((x.sum_dims(0)?, x.exp()?));
    let whole = Vmap::new().in_dims([Some(1)]).out_dims([Some(-1), Some(1)]);
    let (sum, exp) = whole.call(f, &x).unwrap();
    let (sum_in_chunks, exp_in_chunks) = whole.clone().chunk_size(2).call(f, &x).unwrap();
    assert_eq!((sum.sizes(), elements_as_f64(&sum)), (sum_in_chunks.sizes(), elements_as_f64(&sum_in_chunks)));
    assert_eq!((exp.sizes(), elements_as_f64(&exp)), (exp_in_chunks.sizes(), elements_as_f64(&exp_in_chunks)));
}

#[test]
fn in_place_forms_write_each_slice() {
    let (x, y) = (varied_tensor(&[3, 4]), varied_tensor(&[4, 3]));
    Vmap::new()
        .in_dims([Some(0), Some(1)])
        .call(
            |(x, y)| {
                let mut written = x.clone();
                written.mul_(y)?;
                aten::cumsum_(&mut written, 0, None)?;
                Ok(written)
            },
            (&x, &y),
        )
        .unwrap();
    let expected = aten::cumsum(&(varied_tensor(&[3, 4]) * y.t().unwrap()).unwrap(), 1, None).unwrap();
    assert_eq!(elements_as_f64(&x), elements_as_f64(&expected));
}

#[test]
fn an_out_form_writes_its_mapped_tensor() {
    let (x, out) = (varied_tensor(&[3, 4]), varied_tensor(&[3, 4]));
    vmap(
        |(x, out)| {
            let mut out = out.clone();
            aten::exp_out(x, &mut out)?;
            Ok(out)
        },
        (&x, &out),
    )
    .unwrap();
    assert_eq!(elements_as_f64(&out), elements_as_f64(&x.exp().unwrap()));
}
