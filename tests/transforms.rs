//! Tests of nested function transforms: Jacobians, per-sample gradients, autocast in vmap.

#![cfg(all(feature = "autocast", feature = "autograd", feature = "vmap", feature = "cpu", feature = "families"))]

use opdispatch::autograd::functional::grad;
use opdispatch::autograd::{Differentiable, GradientError};
use opdispatch::prelude::*;
use opdispatch::vmap::{Vmap, vmap};
use opdispatch::{JacobianError, autocast, bf16, jacobians, jacrev};

fn numbers(sizes: &[i64]) -> Tensor {
    let count: i64 = sizes.iter().product();
    let numbers: Vec<f64> =
        (0..count).map(|i| f64::from(i32::try_from((i * 7 + 3) % 11).unwrap()) / 4.0 - 1.2).collect();
    Tensor::from_slice(&numbers).reshape(sizes).unwrap()
}

fn values(tensor: &Tensor) -> Vec<f64> {
    tensor.to_vec().unwrap()
}

fn assert_close(found: &Tensor, expected: &Tensor, tolerance: f64) {
    assert_eq!(found.sizes(), expected.sizes());
    for (a, b) in values(found).into_iter().zip(values(expected)) {
        assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "{found} and not {expected}");
    }
}

/// Returns the Jacobian by central differences, with two calls for each element of the input.
fn differences(f: impl Fn(&Tensor) -> Result<Tensor>, x: &Tensor) -> Tensor {
    const STEP: f64 = 1e-5;
    let count = values(x).len();
    let columns = (0..count).map(|i| {
        let moved = |by: f64| {
            let mut all = values(x);
            all[i] += by;
            f(&Tensor::from_slice(&all).reshape(x.sizes()).unwrap()).unwrap()
        };
        ((moved(STEP) - moved(-STEP)).unwrap() / (2.0 * STEP)).unwrap()
    });
    let columns = aten::stack(&columns.collect::<Vec<_>>(), -1).unwrap();
    let sizes = [&columns.sizes()[..columns.sizes().len() - 1], x.sizes()].concat();
    columns.reshape(&sizes).unwrap()
}

fn check(f: impl Fn(&Tensor) -> Result<Tensor>, x: &Tensor) {
    assert_close(&jacrev(&f, x).unwrap(), &differences(&f, x), 1e-6);
}

#[test]
fn the_jacobian_of_what_works_on_elements_is_diagonal() {
    let x = numbers(&[4]);
    assert_close(&jacrev(Tensor::sin, &x).unwrap(), &x.cos().unwrap().diag(0).unwrap(), 1e-12);
    let tanh = x.tanh().unwrap();
    let slope = (Tensor::ones(&[4], DType::F64).unwrap() - (&tanh * &tanh).unwrap()).unwrap();
    assert_close(&jacrev(Tensor::tanh, &x).unwrap(), &slope.diag(0).unwrap(), 1e-12);
}

#[test]
fn the_jacobian_of_a_product_with_a_matrix_is_the_matrix() {
    let (matrix, x) = (numbers(&[3, 4]), numbers(&[4]));
    assert_close(&jacrev(|x| matrix.mv(x), &x).unwrap(), &matrix, 1e-12);
}

#[test]
fn the_jacobian_of_softmax_is_known() {
    let x = numbers(&[5]);
    let p = x.softmax_int(0, None).unwrap();
    let expected = (p.diag(0).unwrap() - p.outer(&p).unwrap()).unwrap();
    assert_close(&jacrev(|x| x.softmax_int(0, None), &x).unwrap(), &expected, 1e-12);
}

#[test]
fn jacobians_are_those_of_differences() {
    check(|x| x.exp()?.cumsum(0), &numbers(&[2, 3]));
    check(|x| x.mm(&x.t()?), &numbers(&[2, 3]));
    check(|x| aten::conv2d!(x, &numbers(&[2, 1, 2, 2])), &numbers(&[1, 3, 3]));
    check(|x| x.log_softmax_int(-1, None)?.select_int(0, 1), &numbers(&[2, 3]));
    check(|x| aten::layer_norm!(x, [3]), &numbers(&[2, 3]));
    check(|x| x.i([2_i64, 0, 0])? * x.i([1_i64, 1, 0])?, &numbers(&[3, 2]));
    check(|x| aten::cat(&[x.sigmoid()?, x.square()?], 0), &numbers(&[3]));
    check(|x| Ok(x.sort(0, false)?.0), &numbers(&[5]));
    check(|x| aten::avg_pool2d!(x, [2, 2]), &numbers(&[1, 4, 4]));
}

#[test]
fn numbers_and_tensors_without_dimensions_have_jacobians() {
    let x = Tensor::from(2.0);
    let found = jacrev(|x| x * x, &x).unwrap();
    assert_eq!((found.sizes(), values(&found)), (&[][..], vec![4.0]));
    assert_eq!(jacrev(|x| x * &numbers(&[3]), &x).unwrap().sizes(), [3]);
    assert_eq!(jacrev(Tensor::sum, &numbers(&[2, 3])).unwrap().sizes(), [2, 3]);
}

#[test]
fn every_result_has_a_jacobian_by_every_input() {
    let (x, y) = (numbers(&[2]), numbers(&[3]));
    let f = |inputs: &[Tensor]| Ok(vec![inputs[0].outer(&inputs[1])?, inputs[1].exp()?]);
    let found = jacobians(f, &[&x, &y]).unwrap();
    let by_x = differences(|x| x.outer(&y), &x);
    let by_y = differences(|y| x.outer(y), &y);
    assert_close(&found[0][0], &by_x, 1e-6);
    assert_close(&found[0][1], &by_y, 1e-6);
    assert_eq!((found[1][0].sizes(), values(&found[1][0])), (&[3_i64, 2][..], vec![0.0; 6]));
    assert_close(&found[1][1], &y.exp().unwrap().diag(0).unwrap(), 1e-12);
}

#[test]
fn a_jacobian_of_a_jacobian_is_the_hessian() {
    let x = numbers(&[3]);
    let f = |x: &Tensor| (x.tanh()? * x.square()?)?.sum()? * x.sum()?;
    let hessian = jacrev(|x| jacrev(f, x), &x).unwrap();
    assert_close(&hessian, &differences(|x| jacrev(f, x), &x), 1e-6);
    assert_close(&hessian, &hessian.t().unwrap().contiguous().unwrap(), 1e-9);
    let matrix = numbers(&[3, 3]);
    let quadratic = |x: &Tensor| x.dot(&matrix.mv(x)?);
    let hessian = jacrev(|x| jacrev(quadratic, x), &x).unwrap();
    assert_close(&hessian, &(&matrix + matrix.t().unwrap()).unwrap(), 1e-12);
}

#[test]
fn the_third_derivative_nests_once_more() {
    let x = numbers(&[2]);
    let cubes = |x: &Tensor| ((x * x)? * x)?.sum();
    let third = jacrev(|x| jacrev(|x| jacrev(cubes, x), x), &x).unwrap();
    assert_eq!(third.sizes(), [2, 2, 2]);
    assert_eq!(values(&third), [6.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 6.0]);
}

#[test]
fn a_map_of_a_jacobian_is_that_of_each_sample() {
    let (matrix, x) = (numbers(&[3, 4]), numbers(&[5, 4]));
    let f = |x: &Tensor| matrix.mv(x)?.tanh();
    let each = vmap(|x| jacrev(f, x), &x).unwrap();
    for i in 0..5 {
        assert_close(&each.i(i).unwrap(), &jacrev(f, &x.i(i).unwrap()).unwrap(), 1e-12);
    }
    let hessians = vmap(|x| jacrev(|x| jacrev(|x| f(x)?.sum(), x), x), &x).unwrap();
    for i in 0..5 {
        let alone = jacrev(|x| jacrev(|x| f(x)?.sum(), x), &x.i(i).unwrap()).unwrap();
        assert_close(&hessians.i(i).unwrap(), &alone, 1e-12);
    }
}

#[test]
fn a_jacobian_of_a_map_is_blocks_on_the_diagonal() {
    let x = numbers(&[3, 2]);
    let found = jacrev(|x| vmap(|row| row.softmax_int(0, None), x), &x).unwrap();
    assert_close(&found, &differences(|x| x.softmax_int(1, None), &x), 1e-6);
}

#[test]
fn a_jacobian_is_differentiable() {
    let x = numbers(&[3]);
    let trace = |x: &Tensor| jacrev(Tensor::sin, x)?.trace();
    assert_close(&grad(trace, &x).unwrap(), &x.sin().unwrap().neg().unwrap(), 1e-12);
    let w = x.requires_grad_(true).unwrap();
    trace(&w).unwrap().backward().unwrap();
    assert_close(&w.grad().unwrap(), &w.detach().unwrap().sin().unwrap().neg().unwrap(), 1e-12);
}

#[test]
fn a_function_that_does_not_look_at_its_input_has_a_jacobian_of_zeros() {
    let found = jacrev(|_| Ok(numbers(&[2])), &numbers(&[3])).unwrap();
    assert_eq!((found.sizes(), values(&found)), (&[2_i64, 3][..], vec![0.0; 6]));
}

#[test]
fn a_result_without_elements_has_a_jacobian_without_rows() {
    let found = jacrev(|x| x.narrow(0, 0, 0), &numbers(&[3])).unwrap();
    assert_eq!(found.sizes(), [0, 3]);
}

#[test]
fn the_jacobian_has_the_dtype_of_the_input() {
    let x = numbers(&[3]).to(DType::F32).unwrap();
    assert_eq!(jacrev(Tensor::exp, &x).unwrap().dtype(), DType::F32);
    assert_eq!(jacrev(|x| x.to(DType::F64), &x).unwrap().dtype(), DType::F32);
}

#[test]
fn complex_numbers_and_integers_have_no_jacobian() {
    let x = numbers(&[3]);
    let error = jacrev(|x| aten::complex(x, x), &x).unwrap_err();
    let expected = JacobianError::Complex { what: "result", position: 0, dtype: DType::C128 };
    assert_eq!(cause::<JacobianError>(&error), Some(&expected));
    assert!(error.to_string().contains("view_as_real"), "{error}");
    let error = jacrev(|x| x * 2, &Tensor::from([1_i64, 2])).unwrap_err();
    assert_eq!(cause::<GradientError>(&error), Some(&GradientError::NotDifferentiableDType { dtype: DType::I64 }));
}

#[test]
fn an_error_of_the_function_is_the_error() {
    let error = jacrev(|x| x.reshape(&[17]), &numbers(&[3])).unwrap_err();
    assert!(error.to_string().contains("17"), "{error}");
    assert_eq!(values(&jacrev(Tensor::sum, &numbers(&[2])).unwrap()), [1.0, 1.0]);
}

fn cause<E: std::error::Error + 'static>(error: &Error) -> Option<&E> {
    let mut source: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = source {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        source = error.source();
    }
    None
}

#[test]
fn gradients_of_each_sample_of_a_network_are_those_of_a_loop() {
    let (x, w) = (numbers(&[6, 4]), numbers(&[3, 4]));
    let classes = Tensor::from([0_i64, 2, 1, 1, 0, 2]);
    let loss = |w: &Tensor, x: &Tensor, class: &Tensor| {
        let scores = aten::layer_norm!(&aten::linear(x, w, None)?, [3])?.relu()?;
        aten::cross_entropy_loss!(&scores, class)
    };
    let each = vmap(|(x, class)| grad(|w| loss(w, x, class), &w), (&x, &classes)).unwrap();
    for i in 0..6 {
        let alone = grad(|w| loss(w, &x.i(i).unwrap(), &classes.i(i).unwrap()), &w).unwrap();
        assert_close(&each.i(i).unwrap(), &alone, 1e-12);
    }
}

#[test]
fn autocast_casts_what_a_mapped_function_multiplies() {
    let (x, w) = (numbers(&[5, 2, 4]).to(DType::F32).unwrap(), numbers(&[4, 3]).to(DType::F32).unwrap());
    let _on = autocast::enable(Device::CPU, None).unwrap();
    let found = vmap(|x| x.mm(&w), &x).unwrap();
    assert_eq!((found.dtype(), found.sizes()), (DType::BF16, &[5_i64, 2, 3][..]));
    let looped: Vec<Tensor> = (0..5).map(|i| x.i(i).unwrap().mm(&w).unwrap()).collect();
    assert_eq!(found.to_vec::<bf16>().unwrap(), aten::stack(&looped, 0).unwrap().to_vec::<bf16>().unwrap());
}

#[test]
fn autocast_that_a_mapped_function_switches_on_ends_with_it() {
    let x = numbers(&[5, 2, 4]).to(DType::F32).unwrap();
    let f = |x: &Tensor| {
        let _on = autocast::enable(Device::CPU, None)?;
        x.mm(&x.t()?)
    };
    assert_eq!(Vmap::new().chunk_size(2).call(f, &x).unwrap().dtype(), DType::BF16);
    assert_eq!(vmap(|x| x.mm(&x.t()?), &x).unwrap().dtype(), DType::F32);
}
