//! Tests of the operators that query and change a tensor's gradient state.

use aten::prelude::*;
use dispatch_autograd::{Differentiable, GradientError};
use dispatch_runtime::prelude::*;
use kernels_cpu as _;

fn leaf() -> Tensor {
    Tensor::from([1.0, 2.0]).requires_grad_(true).unwrap()
}

fn gradient_error<T: std::fmt::Debug>(result: Result<T>) -> GradientError {
    let error = result.unwrap_err();
    std::error::Error::source(&error).and_then(|source| source.downcast_ref()).cloned().unwrap()
}

#[test]
fn detach_in_place_removes_the_history() {
    let x = leaf();
    let mut y = (&x * 2.0).unwrap();
    let other = y.clone();
    aten::detach_(&mut y).unwrap();
    assert!(y.same(&other) && !y.requires_grad() && y.is_leaf() && y.grad_fn().is_none());
    let z = (y.requires_grad_(true).unwrap() * 3.0).unwrap();
    z.sum().unwrap().backward().unwrap();
    assert_eq!(other.grad().unwrap().to_vec::<f64>().unwrap(), [3.0, 3.0]);
    assert!(x.grad().is_none());
}

#[test]
fn detach_in_place_frees_the_graph() {
    let x = leaf();
    let squares = (&x * &x).unwrap();
    let (sender, receiver) = std::sync::mpsc::channel();
    let saved = (&squares + 1.0).unwrap();
    saved.storage().when_freed(move || sender.send(()).unwrap());
    let mut y = (&saved * &saved).unwrap();
    drop(saved);
    assert!(receiver.try_recv().is_err());
    aten::detach_(&mut y).unwrap();
    assert!(receiver.try_recv().is_ok());
}

#[test]
fn a_view_cannot_be_detached_in_place() {
    let x = leaf();
    let mut view = (&x * 2.0).unwrap().narrow(0, 0, 1).unwrap();
    assert_eq!(gradient_error(aten::detach_(&mut view)), GradientError::ViewDetached);
    assert_eq!(
        gradient_error(aten::detach_(&mut Tensor::from([1.0, 2.0]).narrow(0, 0, 1).unwrap())),
        GradientError::ViewDetached
    );
}

#[test]
fn queries_tell_how_a_tensor_was_computed() {
    let x = leaf();
    let parts = x.unbind(0).unwrap();
    assert_eq!(parts.iter().map(|part| aten::output_nr(part).unwrap()).collect::<Vec<_>>(), [0, 1]);
    assert!(aten::is_leaf(&x).unwrap() && !aten::is_leaf(&parts[0]).unwrap() && aten::output_nr(&x).unwrap() == 0);
    let mut y = (&x * 2.0).unwrap();
    assert!(!aten::retains_grad(&y).unwrap());
    aten::retain_grad(&mut y).unwrap();
    assert!(aten::retains_grad(&y).unwrap() && !aten::retains_grad(&x).unwrap());
    assert!(aten::retain_grad(&mut Tensor::from([1.0])).is_err());
    let version = aten::_version(&y).unwrap();
    aten::zero_(&mut y.detach().unwrap()).unwrap();
    assert_eq!(aten::_version(&y).unwrap(), version + 1);
}

#[test]
fn requires_grad_changes_leaves_only() {
    let mut x = Tensor::from([1.0, 2.0]);
    aten::requires_grad_(&mut x, true).unwrap();
    let mut y = (&x * 2.0).unwrap();
    assert!(y.requires_grad());
    assert_eq!(gradient_error(aten::requires_grad_(&mut y, false)), GradientError::NotALeaf);
    assert!(aten::requires_grad_(&mut Tensor::from([1]), true).is_err());
    aten::requires_grad_(&mut x, false).unwrap();
    assert!(!x.requires_grad());
}

#[test]
fn backward_accumulates_into_the_given_inputs() {
    let (x, w) = (leaf(), leaf());
    let y = (&x * &w).unwrap();
    assert!(aten::_backward(&y, &[], None, None, false).is_err());
    let seed = Tensor::from([1.0, 3.0]);
    for times in [1.0, 2.0] {
        aten::_backward(&y, std::slice::from_ref(&x), Some(&seed), Some(true), false).unwrap();
        assert_eq!(x.grad().unwrap().to_vec::<f64>().unwrap(), [times, 6.0 * times]);
    }
    assert!(w.grad().is_none());
    aten::_backward(&y.sum().unwrap(), &[], None, None, false).unwrap();
    assert_eq!(w.grad().unwrap().to_vec::<f64>().unwrap(), [1.0, 2.0]);
}

#[test]
fn tensors_that_require_gradients_are_not_resized() {
    let mut x = leaf();
    assert!(aten::resize_(&mut x, &[1], None).is_err());
    assert!(
        aten::resize_(&mut (&x * 2.0).unwrap(), &[1], None).unwrap_err().to_string().contains("requires gradients")
    );
    let _no_grad = dispatch_runtime::guard::no_grad();
    assert!(aten::resize_(&mut x, &[1], None).is_err());
    aten::set_data(&mut x, &Tensor::from([5.0])).unwrap();
    assert!(x.requires_grad() && x.is_leaf() && x.sizes() == [1]);
}
