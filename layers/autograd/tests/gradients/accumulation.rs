//! Tests of gradient accumulation in leaves, and of retained gradients of computed tensors.

use aten::prelude::*;
use dispatch_autograd::{Differentiable, Differentiation, GradientError};
use dispatch_runtime::prelude::*;
use dispatch_runtime::{Complex64, guard};
use kernels_cpu as _;

fn leaf_tensor(elements: &[f64]) -> Tensor {
    Tensor::from_slice(elements).requires_grad_(true).unwrap()
}

fn gradient_error(error: &Error) -> &GradientError {
    std::error::Error::source(error).unwrap().downcast_ref().unwrap()
}

fn gradient_elements(tensor: &Tensor) -> Vec<f64> {
    tensor.grad().unwrap().to_vec().unwrap()
}

#[test]
fn leaves_do_not_share_recorded_gradients() {
    let (a, b, c) = (leaf_tensor(&[1.0, 2.0]), leaf_tensor(&[3.0, 4.0]), Tensor::from([3.0, 4.0]));
    let sum = ((&a + &b).unwrap() * &c).unwrap().sum().unwrap();
    Differentiation::of_outputs(&[&sum]).create_graph().backward().unwrap();
    {
        let _unrecorded = guard::no_grad();
        a.grad().unwrap().mul_(2.0).unwrap();
    }
    assert_eq!((gradient_elements(&a), gradient_elements(&b)), (vec![6.0, 8.0], vec![3.0, 4.0]));
    let x = leaf_tensor(&[1.0, 2.0]);
    let seed = Tensor::from([1.0, 1.0]);
    Differentiation::of_outputs(&[&x]).with_seeds(&[&seed]).create_graph().backward().unwrap();
    seed.zero_().unwrap();
    assert_eq!(gradient_elements(&x), [1.0, 1.0]);
}

#[test]
fn a_leaf_that_no_longer_requires_gradients_accumulates_none() {
    let x = leaf_tensor(&[1.0, 2.0]);
    let y = (&x * 2.0).unwrap().sum().unwrap();
    let x = x.requires_grad_(false).unwrap();
    y.backward().unwrap();
    assert!(x.grad().is_none());
}

#[test]
fn a_retained_gradient_is_that_of_the_current_contents() {
    let x = leaf_tensor(&[1.0, 2.0]);
    let y = (&x * 2.0).unwrap();
    y.retain_grad().unwrap();
    y.mul_(3.0).unwrap();
    y.sum().unwrap().backward().unwrap();
    assert_eq!((gradient_elements(&y), gradient_elements(&x)), (vec![1.0, 1.0], vec![6.0, 6.0]));
}

#[test]
fn retained_gradients_accumulate_until_they_are_reset() {
    let x = leaf_tensor(&[1.0, 2.0]);
    let y = (&x * 2.0).unwrap();
    y.retain_grad().unwrap();
    let sum = y.sum().unwrap();
    let back = || Differentiation::of_outputs(&[&sum]).retain_graph().backward().unwrap();
    back();
    back();
    assert_eq!(gradient_elements(&y), [2.0, 2.0]);
    y.zero_grad();
    assert!(y.grad().is_none());
    back();
    assert_eq!(gradient_elements(&y), [1.0, 1.0]);
    let error = y.set_grad(Some(Tensor::from_slice(&[1.0_f32, 1.0]))).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the gradient of a tensor must have its sizes, dtype and device, here [2], float64 on cpu; the gradient that was set has [2], \
         float32 on cpu"
    );
    y.set_grad(None).unwrap();
    assert!(y.grad().is_none());
}

#[test]
fn a_leaf_hook_cannot_change_sizes_and_dtype_of_the_gradient() {
    let x = leaf_tensor(&[1.0, 2.0]);
    let hook = x.register_hook(|gradient| gradient.sum().map(Some)).unwrap();
    let error = (&x * 2.0).unwrap().sum().unwrap().backward().unwrap_err();
    assert!(matches!(gradient_error(&error), GradientError::WrongGradientSizes { .. }), "{error}");
    hook.remove();
    let _rounding = x.register_hook(|gradient| gradient.to(DType::F32).map(Some)).unwrap();
    (&x * 2.0).unwrap().sum().unwrap().backward().unwrap();
    assert_eq!(x.grad().unwrap().dtype(), DType::F64);
}

#[test]
fn a_complex_scalar_needs_a_seed_gradient() {
    let c =
        Tensor::from_slice(&[Complex64::new(1.0, 2.0)]).sum().unwrap().detach().unwrap().requires_grad_(true).unwrap();
    let error = (&c * &c).unwrap().backward().unwrap_err();
    assert_eq!(gradient_error(&error), &GradientError::NotScalar { sizes: vec![], dtype: DType::C128 });
}
