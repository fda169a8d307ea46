//! Tests of function transforms nested in any order.

#![expect(clippy::float_cmp, reason = "gradients of small whole numbers are exact")]

use aten::prelude::*;
use dispatch_autograd::functional::{grad, jvp, value_and_grad, vjp};
use dispatch_autograd::{Differentiable, GradientError};
use dispatch_runtime::guard;
use dispatch_runtime::prelude::*;
use dispatch_transform::TransformError;
use kernels_cpu as _;

fn scalar_tensor(value: f64) -> Tensor {
    Tensor::from(value)
}

fn scalar_value(tensor: &Tensor) -> f64 {
    tensor.item().unwrap()
}

#[test]
fn gradients_nest() {
    let fourth = |x: &Tensor| (x * x)? * (x * x)?;
    let x = scalar_tensor(3.0);
    assert_eq!(scalar_value(&grad(fourth, &x).unwrap()), 108.0);
    assert_eq!(scalar_value(&grad(|x| grad(fourth, x), &x).unwrap()), 108.0);
    assert_eq!(scalar_value(&grad(|x| grad(|x| grad(fourth, x), x), &x).unwrap()), 72.0);
    assert_eq!(dispatch_transform::depth(), 0);
}

#[test]
fn gradients_nest_if_the_operator_saves_its_result() {
    let x = scalar_tensor(0.5);
    let found = scalar_value(&grad(|x| grad(Tensor::tanh, x), &x).unwrap());
    let tanh = 0.5_f64.tanh();
    assert!((found + 2.0 * tanh * (1.0 - tanh * tanh)).abs() < 1e-12, "{found}");
    let found = scalar_value(&grad(|x| grad(|x| grad(Tensor::exp, x), x), &x).unwrap());
    assert!((found - 0.5_f64.exp()).abs() < 1e-12, "{found}");
}

#[test]
fn captured_tensors_are_constant_in_the_inner_function_only() {
    // d/dx (x * d/dy (x * y)) = d/dx (x * x)
    let x = scalar_tensor(3.0);
    let gradient = grad(|x| x * &grad(|y| x * y, &scalar_tensor(1.0))?, &x).unwrap();
    assert_eq!(scalar_value(&gradient), 6.0);
    // Perturbation confusion: d/dx (x * d/dy (x + y)) = 1.
    let gradient = grad(|x| x * &grad(|y| x + y, &scalar_tensor(1.0))?, &x).unwrap();
    assert_eq!(scalar_value(&gradient), 1.0);
}

#[test]
fn an_ordinary_backward_goes_through_a_transform() {
    let x = scalar_tensor(2.0).requires_grad_(true).unwrap();
    let cube = |x: &Tensor| x * &(x * x)?;
    let first = grad(cube, &x).unwrap();
    assert!(first.requires_grad());
    first.backward().unwrap();
    assert_eq!(scalar_value(&x.grad().unwrap()), 12.0);
}

#[test]
fn an_ordinary_backward_reaches_tensors_that_a_transformed_function_captured() {
    let w = scalar_tensor(5.0).requires_grad_(true).unwrap();
    let gradient = grad(|x| (x * x)? * &w, &scalar_tensor(3.0)).unwrap();
    assert_eq!(scalar_value(&gradient), 30.0);
    gradient.backward().unwrap();
    assert_eq!(scalar_value(&w.grad().unwrap()), 6.0);
}

#[test]
fn requires_grad_is_an_error_inside_of_a_transform() {
    let error = grad(|x| x * &scalar_tensor(2.0).requires_grad_(true)?, &scalar_tensor(3.0)).unwrap_err();
    let source = std::error::Error::source(&error).unwrap();
    assert_eq!(source.downcast_ref(), Some(&GradientError::RequiresGradInsideTransform));
}

#[test]
fn no_grad_affects_only_its_own_level() {
    let square = |x: &Tensor| x * x;
    let off = guard::no_grad();
    assert_eq!(scalar_value(&grad(square, &scalar_tensor(3.0)).unwrap()), 6.0);
    drop(off);
    let x = scalar_tensor(3.0).requires_grad_(true).unwrap();
    let (value, gradient) = value_and_grad(
        |x| {
            let constant = {
                let _off = guard::no_grad();
                (x * x)?
            };
            x * &constant
        },
        &x,
    )
    .unwrap();
    // At its own level the square is a constant. At the level outside, all factors count.
    assert_eq!((scalar_value(&value), scalar_value(&gradient)), (27.0, 9.0));
    value.backward().unwrap();
    assert_eq!(scalar_value(&x.grad().unwrap()), 27.0);
}

#[test]
fn in_place_operators_and_views_have_gradients_inside_of_a_transform() {
    let gradient = grad(
        |x| {
            let mut y = aten::clone(x, None)?;
            let mut end = aten::slice(&y, 0, Some(1), None, 1)?;
            aten::mul_(&mut end, &aten::slice(x, 0, Some(1), None, 1)?)?;
            aten::add_(&mut y, x, 1.into())?;
            y.sum()
        },
        &Tensor::from([2.0, 3.0]),
    );
    assert_eq!(gradient.unwrap().to_vec::<f64>().unwrap(), [2.0, 7.0]);
}

#[test]
fn a_write_to_a_captured_tensor_is_an_error() {
    let outside = scalar_tensor(1.0);
    let error = grad(
        |x| {
            aten::mul_(&mut outside.clone(), x)?;
            x * x
        },
        &scalar_tensor(2.0),
    )
    .unwrap_err();
    let source = std::error::Error::source(&error).unwrap();
    assert!(
        matches!(source.downcast_ref(), Some(TransformError::WriteToCaptured { argument, .. }) if argument == "self"),
        "{error}"
    );
    assert_eq!((scalar_value(&outside), dispatch_transform::depth()), (1.0, 0));
}

#[test]
fn a_tensor_returned_from_a_transform_is_an_ordinary_tensor() {
    let mut kept = None;
    grad(
        |x| {
            kept = Some((x * x)?);
            x * x
        },
        &scalar_tensor(3.0),
    )
    .unwrap();
    let kept = kept.unwrap();
    let doubled = (&kept * 2.0).unwrap();
    assert_eq!(scalar_value(&doubled), 18.0);
    assert!(!doubled.requires_grad() && !dispatch_transform::is_lifted(&doubled));
}

#[test]
fn a_pullback_can_be_called_twice_and_differentiated() {
    let x = Tensor::from([1.0, 2.0]).requires_grad_(true).unwrap();
    let (_, pullback) = vjp(|x| (x * x)? * x, &x).unwrap();
    for seed in [1.0, 10.0] {
        let gradient = pullback.call(&Tensor::from([seed, 0.0])).unwrap();
        assert_eq!(gradient.to_vec::<f64>().unwrap(), [3.0 * seed, 0.0]);
    }
    let gradient = pullback.call(&Tensor::from([1.0, 1.0])).unwrap();
    gradient.sum().unwrap().backward().unwrap();
    assert_eq!(x.grad().unwrap().to_vec::<f64>().unwrap(), [6.0, 12.0]);
}

#[test]
fn jvp_of_grad_is_a_hessian_vector_product() {
    // f = sum(x^3): the Hessian is diag(6 x).
    let x = Tensor::from([1.0, 2.0]);
    let cube = |x: &Tensor| (&(x * x)? * x)?.sum();
    let direction = Tensor::from([1.0, 10.0]);
    let (_, product) = jvp(|x| grad(cube, x), &x, &direction).unwrap();
    assert_eq!(product.to_vec::<f64>().unwrap(), [6.0, 120.0]);
    // The same product with the transforms in the other order.
    let along = |x: &Tensor| Ok(jvp(cube, x, &direction)?.1);
    assert_eq!(grad(along, &x).unwrap().to_vec::<f64>().unwrap(), [6.0, 120.0]);
}

#[test]
fn a_constant_function_has_a_gradient_of_zeros() {
    let gradient = grad(|_| Ok(scalar_tensor(1.0)), &Tensor::from([1.0, 2.0])).unwrap();
    assert_eq!(gradient.to_vec::<f64>().unwrap(), [0.0, 0.0]);
}

#[test]
fn an_error_or_a_panic_ends_the_level() {
    let failed = grad(|_| Err("no".into()), &scalar_tensor(1.0));
    assert!(failed.is_err());
    let caught = std::panic::catch_unwind(|| grad(|_| panic!("inside"), &scalar_tensor(1.0)));
    assert!(caught.is_err());
    assert_eq!(dispatch_transform::depth(), 0);
    assert_eq!(scalar_value(&grad(|x| x * x, &scalar_tensor(1.0)).unwrap()), 2.0);
}

#[test]
fn a_level_does_not_affect_other_threads() {
    let error = grad(
        |x| {
            let x = x.clone();
            std::thread::spawn(move || &x * &x).join().unwrap()
        },
        &scalar_tensor(1.0),
    )
    .unwrap_err();
    assert!(error.to_string().contains("another thread"), "{error}");
}
