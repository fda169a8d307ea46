//! Tests of writes whose effect on the graph is not visible on the written tensor.

use aten::prelude::*;
use dispatch_autograd::{Backward, BackwardContext, Differentiable, GradientError, op_grad, record};
use dispatch_runtime::guard;
use dispatch_runtime::prelude::*;
use kernels_cpu as _;

fn leaf(elements: &[f64]) -> Tensor {
    Tensor::from_slice(elements).requires_grad_(true).unwrap()
}

fn source(error: &Error) -> &GradientError {
    std::error::Error::source(error).unwrap().downcast_ref().unwrap()
}

fn part(tensor: &Tensor) -> Tensor {
    tensor.slice(0, Some(0), Some(1), 1).unwrap()
}

#[test]
fn a_view_made_while_nothing_was_recorded_is_not_written_to_while_something_is() {
    let x = leaf(&[1.0, 2.0, 3.0]);
    let y = (&x * 2.0).unwrap();
    let unrecorded = {
        let _no_grad = guard::no_grad();
        part(&y)
    };
    let in_inference = {
        let _inference = guard::inference_mode();
        part(&y)
    };
    let of_leaf = {
        let _no_grad = guard::no_grad();
        part(&x)
    };
    for mut view in [part(&unrecorded), unrecorded, in_inference, of_leaf] {
        let error = view.mul__scalar(10.0).unwrap_err();
        assert!(matches!(source(&error), GradientError::ViewWritten { .. }), "{error}");
    }
    y.sum().unwrap().backward().unwrap();
    assert_eq!(x.grad().unwrap().to_vec::<f64>().unwrap(), [2.0; 3]);
}

#[test]
fn integers_that_recorded_numbers_are_copied_into_stay_outside_of_the_graph() {
    let x = leaf(&[1.5]);
    let mut whole = Tensor::from([1_i64]);
    aten::copy_(&mut whole, &x, false).unwrap();
    assert!(!whole.requires_grad());
    (&whole * &x).unwrap().sum().unwrap().backward().unwrap();
    assert_eq!(x.grad().unwrap().to_vec::<f64>().unwrap(), [1.0]);
}

#[test]
fn a_leaf_that_is_itself_a_view_is_not_written_through_a_view_of_it() {
    let buffer = Tensor::from([1.0, 2.0, 3.0, 4.0]);
    let parameter = buffer.slice(0, Some(0), Some(2), 1).unwrap().requires_grad_(true).unwrap();
    let mut view = part(&parameter);
    for error in [aten::mul_(&mut view, &leaf(&[5.0])).unwrap_err(), view.zero_().unwrap_err()] {
        assert!(matches!(source(&error), GradientError::ViewOfLeafWritten { .. }), "{error}");
    }
    (&parameter * 2.0).unwrap().sum().unwrap().backward().unwrap();
    assert_eq!(parameter.grad().unwrap().to_vec::<f64>().unwrap(), [2.0, 2.0]);
}

/// An operator whose kernel returns its argument.
#[op_def("writes_same(Tensor self) -> Tensor")]
pub fn writes_same(this: &Tensor) -> Result<Tensor>;

#[op_impl(writes_same, CPU)]
fn same(this: &Tensor) -> Result<Tensor> {
    Ok(this.clone())
}

#[op_grad(writes_same)]
fn same_back(grad: &Tensor) -> Tensor {
    grad.clone()
}

#[test]
fn what_a_kernel_gives_back_of_its_arguments_is_a_copy_where_it_is_recorded() {
    let x = leaf(&[1.0]);
    let mut y = writes_same(&x).unwrap();
    y.mul__scalar(3.0).unwrap();
    assert_eq!(x.to_vec::<f64>().unwrap(), [1.0]);
    y.sum().unwrap().backward().unwrap();
    assert_eq!(x.grad().unwrap().to_vec::<f64>().unwrap(), [3.0]);
}

#[test]
fn a_write_that_is_refused_is_no_write() {
    let x = leaf(&[1.0, 2.0]);
    let mut y = x.tanh().unwrap();
    assert!(aten::div_(&mut y, &Tensor::from([1.0, 2.0, 3.0])).is_err());
    y.sum().unwrap().backward().unwrap();
    assert!(x.grad().is_some());
}

#[test]
fn a_backward_frees_what_a_write_to_a_view_saved() {
    let (x, factor) = (leaf(&[1.0, 2.0]), Tensor::from([3.0]));
    let y = aten::clone(&x, None).unwrap();
    aten::mul_(&mut part(&y), &factor).unwrap();
    let sum = y.sum().unwrap();
    sum.backward().unwrap();
    assert_eq!(x.grad().unwrap().to_vec::<f64>().unwrap(), [3.0, 1.0]);
    let error = sum.backward().unwrap_err();
    assert!(matches!(source(&error), GradientError::Freed { .. }), "{error}");
}

struct Hundredfold;

impl Backward for Hundredfold {
    fn name(&self) -> String {
        "hundredfold".to_owned()
    }

    fn backward(&self, _: &BackwardContext<'_>, gradients: &[Option<Tensor>]) -> Result<Vec<Option<Tensor>>> {
        gradients.iter().map(|gradient| gradient.as_ref().map(|gradient| gradient * 100.0).transpose()).collect()
    }
}

#[test]
fn a_write_to_what_a_recorded_output_showed_leaves_its_function_in_place() {
    let x = leaf(&[1.0, 2.0]);
    let mut y = (&x * 2.0).unwrap();
    let output = record(&[&y], Hundredfold, |_| Ok(vec![y.view(&[2])?])).unwrap().remove(0);
    y.mul__scalar(3.0).unwrap();
    assert_eq!(output.to_vec::<f64>().unwrap(), [2.0, 4.0]);
    output.sum().unwrap().backward().unwrap();
    assert_eq!(x.grad().unwrap().to_vec::<f64>().unwrap(), [200.0, 200.0]);
}

#[test]
fn a_power_may_be_written_over() {
    for power in [
        |x: &Tensor| x.pow_tensor_scalar(3),
        |x: &Tensor| {
            let mut written = (x * 1.0)?;
            written.pow__scalar(3)?;
            Ok(written)
        },
    ] {
        let x = leaf(&[1.0, 2.0]);
        let mut y = power(&x).unwrap();
        y.mul__scalar(10.0).unwrap();
        y.sum().unwrap().backward().unwrap();
        assert_eq!(x.grad().unwrap().to_vec::<f64>().unwrap(), [30.0, 120.0]);
    }
}
