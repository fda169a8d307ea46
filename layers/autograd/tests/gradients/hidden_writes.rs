//! Tests of writes whose effect on the graph is not visible on the written tensor.

use aten::prelude::*;
use dispatch_autograd::{Backward, BackwardContext, Differentiable, GradientError, call_custom_function, op_grad};
use dispatch_runtime::guard;
use dispatch_runtime::prelude::*;
use kernels_cpu as _;

fn leaf_tensor(elements: &[f64]) -> Tensor {
    Tensor::from_slice(elements).requires_grad_(true).unwrap()
}

fn gradient_error(error: &Error) -> &GradientError {
    std::error::Error::source(error).unwrap().downcast_ref().unwrap()
}

fn first_element_view(tensor: &Tensor) -> Tensor {
    aten::slice(tensor, 0, Some(0), Some(1), 1).unwrap()
}

#[test]
fn a_recorded_write_to_an_unrecorded_view_is_an_error() {
    let x = leaf_tensor(&[1.0, 2.0, 3.0]);
    let y = (&x * 2.0).unwrap();
    let unrecorded = {
        let _no_grad = guard::no_grad();
        first_element_view(&y)
    };
    let in_inference = {
        let _inference = guard::inference_mode();
        first_element_view(&y)
    };
    let of_leaf = {
        let _no_grad = guard::no_grad();
        first_element_view(&x)
    };
    for view in [first_element_view(&unrecorded), unrecorded, in_inference, of_leaf] {
        let error = view.mul_(10.0).unwrap_err();
        assert!(matches!(gradient_error(&error), GradientError::ViewWritten { .. }), "{error}");
    }
    y.sum().unwrap().backward().unwrap();
    assert_eq!(x.grad().unwrap().to_vec::<f64>().unwrap(), [2.0; 3]);
}

#[test]
fn an_integer_tensor_does_not_require_gradients_after_a_copy_into_it() {
    let x = leaf_tensor(&[1.5]);
    let mut whole = Tensor::from([1_i64]);
    aten::copy_(&mut whole, &x, false).unwrap();
    assert!(!whole.requires_grad());
    (&whole * &x).unwrap().sum().unwrap().backward().unwrap();
    assert_eq!(x.grad().unwrap().to_vec::<f64>().unwrap(), [1.0]);
}

#[test]
fn a_write_to_a_view_of_a_leaf_view_is_an_error() {
    let buffer = Tensor::from([1.0, 2.0, 3.0, 4.0]);
    let parameter = aten::slice(&buffer, 0, Some(0), Some(2), 1).unwrap().requires_grad_(true).unwrap();
    let mut view = first_element_view(&parameter);
    for error in [aten::mul_(&mut view, &leaf_tensor(&[5.0])).unwrap_err(), view.zero_().unwrap_err()] {
        assert!(matches!(gradient_error(&error), GradientError::ViewOfLeafWritten { .. }), "{error}");
    }
    (&parameter * 2.0).unwrap().sum().unwrap().backward().unwrap();
    assert_eq!(parameter.grad().unwrap().to_vec::<f64>().unwrap(), [2.0, 2.0]);
}

/// An operator whose kernel returns its argument.
#[op_def("returns_argument(Tensor self) -> Tensor")]
pub fn returns_argument(this: &Tensor) -> Result<Tensor>;

#[op_impl(returns_argument, CPU)]
fn returns_argument_cpu(this: &Tensor) -> Result<Tensor> {
    Ok(this.clone())
}

#[op_grad(returns_argument)]
fn returns_argument_grad(grad: &Tensor) -> Tensor {
    grad.clone()
}

#[test]
fn a_recorded_result_that_is_an_argument_is_copied() {
    let x = leaf_tensor(&[1.0]);
    let y = returns_argument(&x).unwrap();
    y.mul_(3.0).unwrap();
    assert_eq!(x.to_vec::<f64>().unwrap(), [1.0]);
    y.sum().unwrap().backward().unwrap();
    assert_eq!(x.grad().unwrap().to_vec::<f64>().unwrap(), [3.0]);
}

#[test]
fn a_rejected_write_does_not_invalidate_saved_tensors() {
    let x = leaf_tensor(&[1.0, 2.0]);
    let mut y = x.tanh().unwrap();
    assert!(aten::div_(&mut y, &Tensor::from([1.0, 2.0, 3.0])).is_err());
    y.sum().unwrap().backward().unwrap();
    assert!(x.grad().is_some());
}

#[test]
fn a_backward_frees_the_tensors_saved_by_a_write_to_a_view() {
    let (x, factor) = (leaf_tensor(&[1.0, 2.0]), Tensor::from([3.0]));
    let y = aten::clone(&x, None).unwrap();
    aten::mul_(&mut first_element_view(&y), &factor).unwrap();
    let sum = y.sum().unwrap();
    sum.backward().unwrap();
    assert_eq!(x.grad().unwrap().to_vec::<f64>().unwrap(), [3.0, 1.0]);
    let error = sum.backward().unwrap_err();
    assert!(matches!(gradient_error(&error), GradientError::SavedTensorsFreed { .. }), "{error}");
}

struct HundredfoldBackward;

impl Backward for HundredfoldBackward {
    fn name(&self) -> String {
        "hundredfold".to_owned()
    }

    fn backward(&self, _: &BackwardContext<'_>, gradients: &[Option<Tensor>]) -> Result<Vec<Option<Tensor>>> {
        gradients.iter().map(|gradient| gradient.as_ref().map(|gradient| gradient * 100.0).transpose()).collect()
    }
}

#[test]
fn a_later_write_to_the_input_does_not_change_a_custom_function() {
    let x = leaf_tensor(&[1.0, 2.0]);
    let y = (&x * 2.0).unwrap();
    let output = call_custom_function(&[&y], HundredfoldBackward, |_| Ok(vec![y.view(2)?])).unwrap().remove(0);
    y.mul_(3.0).unwrap();
    assert_eq!(output.to_vec::<f64>().unwrap(), [2.0, 4.0]);
    output.sum().unwrap().backward().unwrap();
    assert_eq!(x.grad().unwrap().to_vec::<f64>().unwrap(), [200.0, 200.0]);
}

#[test]
fn the_result_of_a_power_can_be_overwritten() {
    for power in [
        |x: &Tensor| x.pow(3),
        |x: &Tensor| {
            let written = (x * 1.0)?;
            written.pow_(3)?;
            Ok(written)
        },
    ] {
        let x = leaf_tensor(&[1.0, 2.0]);
        let y = power(&x).unwrap();
        y.mul_(10.0).unwrap();
        y.sum().unwrap().backward().unwrap();
        assert_eq!(x.grad().unwrap().to_vec::<f64>().unwrap(), [30.0, 120.0]);
    }
}
