//! Tests of first-order gradients of small programs.

use std::sync::{Arc, Mutex};

use aten::prelude::*;
use dispatch_autograd::{Differentiable, Differentiation, GradientError, checkpoint, grad};
use dispatch_runtime::guard;
use dispatch_runtime::prelude::*;
use kernels_cpu as _;

fn leaf_tensor(values: &[f64]) -> Tensor {
    Tensor::from_slice(values).requires_grad_(true).unwrap()
}

fn elements(tensor: &Tensor) -> Vec<f64> {
    tensor.to_vec().unwrap()
}

fn gradient_elements(tensor: &Tensor) -> Vec<f64> {
    elements(&tensor.grad().expect("a gradient was accumulated"))
}

fn gradient_error(error: &Error) -> &GradientError {
    std::error::Error::source(error).and_then(|source| source.downcast_ref()).unwrap_or_else(|| panic!("{error}"))
}

#[test]
fn gradients_go_through_products_and_sums() {
    let (x, y) = (leaf_tensor(&[1.0, 2.0]), leaf_tensor(&[3.0, -1.0]));
    let z = ((&x * &y).unwrap() + &x).unwrap();
    z.sum().unwrap().backward().unwrap();
    assert_eq!(gradient_elements(&x), [4.0, 0.0]);
    assert_eq!(gradient_elements(&y), [1.0, 2.0]);
}

#[test]
fn a_tensor_that_is_used_twice_gets_both_gradients() {
    let x = leaf_tensor(&[3.0]);
    let y = (&x * &x).unwrap();
    (&y + &y).unwrap().backward().unwrap();
    assert_eq!(gradient_elements(&x), [12.0]);
}

#[test]
fn gradients_of_broadcast_tensors_are_summed() {
    let x = leaf_tensor(&[1.0, 2.0, 3.0]);
    let w = leaf_tensor(&[10.0]);
    (&x * &w).unwrap().sum().unwrap().backward().unwrap();
    assert_eq!(gradient_elements(&w), [6.0]);
    assert_eq!(gradient_elements(&x), [10.0; 3]);
}

#[test]
fn a_second_backward_adds_to_the_gradient() {
    let x = leaf_tensor(&[2.0]);
    for expected in [4.0, 8.0] {
        (&x * &x).unwrap().backward().unwrap();
        assert_eq!(gradient_elements(&x), [expected]);
    }
    x.zero_grad();
    assert!(x.grad().is_none());
}

#[test]
fn a_returned_gradient_does_not_change_in_a_later_backward() {
    let x = leaf_tensor(&[2.0]);
    (&x * &x).unwrap().backward().unwrap();
    let first = x.grad().unwrap();
    (&x * &x).unwrap().backward().unwrap();
    assert_eq!(elements(&first), [4.0]);
    assert_eq!(gradient_elements(&x), [8.0]);
}

#[test]
fn a_transposed_weight_gets_a_gradient_with_its_own_strides() {
    let inputs = Tensor::from(vec![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    let weight = Tensor::from(vec![[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]).requires_grad_(true).unwrap();
    let address = |tensor: &Tensor| tensor.read::<f64>().unwrap().as_ptr().addr();
    let handed_over = Arc::new(Mutex::new(0));
    let seen = handed_over.clone();
    let _hook = weight
        .register_hook(move |gradient| {
            *seen.lock().unwrap() = address(gradient);
            Ok(None)
        })
        .unwrap();
    inputs.mm(&weight.t().unwrap()).unwrap().sum().unwrap().backward().unwrap();
    let gradient = weight.grad().unwrap();
    assert_eq!(gradient.strides(), weight.strides());
    assert_eq!(address(&gradient), *handed_over.lock().unwrap());
    assert_eq!(elements(&gradient), [5.0, 7.0, 9.0, 5.0, 7.0, 9.0]);
}

#[test]
fn a_shared_gradient_is_copied_before_a_leaf_stores_it() {
    let x = Tensor::from(vec![[1.0, 2.0], [3.0, 4.0]]).requires_grad_(true).unwrap();
    let turned = x.t().unwrap();
    turned.retain_grad().unwrap();
    (&turned * &turned).unwrap().sum().unwrap().backward().unwrap();
    let (own, others) = (x.grad().unwrap(), turned.grad().unwrap());
    assert!(!own.storage().same(others.storage()));
    assert_eq!(elements(&own), [2.0, 4.0, 6.0, 8.0]);
}

#[test]
fn create_graph_makes_gradients_differentiable() {
    let x = leaf_tensor(&[2.0]);
    let y = (&(&x * &x).unwrap() * &x).unwrap();
    let first = Differentiation::of_outputs(&[&y]).create_graph().grad(&[&x]).unwrap().remove(0).unwrap();
    assert_eq!(elements(&first), [12.0]);
    let second = Differentiation::of_outputs(&[&first]).create_graph().grad(&[&x]).unwrap().remove(0).unwrap();
    assert_eq!(elements(&second), [12.0]);
    let third = grad(&[&second], &[&x]).unwrap().remove(0).unwrap();
    assert_eq!(elements(&third), [6.0]);
    assert!(x.grad().is_none(), "`grad` does not accumulate into leaves");
}

#[test]
fn a_saved_result_has_a_history_in_a_second_derivative() {
    let x = leaf_tensor(&[1.0, -2.0]);
    let y = x.relu().unwrap();
    let first = Differentiation::of_outputs(&[&(&y * &y).unwrap().sum().unwrap()]).create_graph().grad(&[&x]).unwrap();
    let first = first[0].clone().unwrap();
    assert_eq!(elements(&first), [2.0, 0.0]);
    let second = grad(&[&first.sum().unwrap()], &[&x]).unwrap().remove(0).unwrap();
    assert_eq!(elements(&second), [2.0, 0.0]);
}

#[test]
fn nothing_is_recorded_if_no_input_requires_gradients() {
    let x = Tensor::from([1.0, 2.0]);
    let y = (&x * &x).unwrap();
    assert!(!y.requires_grad() && y.is_leaf() && y.grad_fn().is_none());
    let error = y.sum().unwrap().backward().unwrap_err();
    assert_eq!(gradient_error(&error), &GradientError::NoGraph { position: 0 });
}

#[test]
fn nothing_is_recorded_under_no_grad_and_again_under_enable_grad() {
    let x = leaf_tensor(&[1.0]);
    let _off = guard::no_grad();
    assert!(!(&x * &x).unwrap().requires_grad());
    let _on = guard::enable_grad();
    assert!((&x * &x).unwrap().requires_grad());
}

#[test]
fn inference_tensors_are_not_recorded_and_cannot_be_saved() {
    let x = leaf_tensor(&[1.0]);
    let constant = {
        let _inference = guard::inference_mode();
        assert!(!(&x * &x).unwrap().requires_grad());
        Tensor::from([2.0])
    };
    let error = (&x * &constant).unwrap_err();
    assert!(
        matches!(gradient_error(&error), GradientError::InferenceTensorSaved { saved, .. } if saved == "other"),
        "{error}"
    );
    assert!((&x + &constant).unwrap().requires_grad());
}

#[test]
fn a_backward_needs_one_element_or_a_seed_gradient() {
    let x = leaf_tensor(&[1.0, 2.0]);
    let y = (&x * &x).unwrap();
    assert_eq!(
        gradient_error(&y.backward().unwrap_err()),
        &GradientError::NotScalar { sizes: vec![2], dtype: DType::F64 }
    );
    let seed = Tensor::from([1.0, 10.0]);
    Differentiation::of_outputs(&[&y]).with_seeds(&[&seed]).backward().unwrap();
    assert_eq!(gradient_elements(&x), [2.0, 40.0]);
    let error = Differentiation::of_outputs(&[&y]).with_seeds(&[&Tensor::from([1.0])]).backward().unwrap_err();
    assert!(matches!(gradient_error(&error), GradientError::WrongGradientSizes { .. }), "{error}");
    let error = Differentiation::of_outputs(&[&y]).with_seeds(&[]).backward().unwrap_err();
    assert_eq!(gradient_error(&error), &GradientError::WrongSeedCount { tensors: 1, seeds: 0 });
}

#[test]
fn a_second_backward_needs_the_graph_retained() {
    let x = leaf_tensor(&[3.0]);
    let y = (&x * &x).unwrap();
    Differentiation::of_outputs(&[&y]).retain_graph().backward().unwrap();
    y.backward().unwrap();
    assert_eq!(gradient_elements(&x), [12.0]);
    let error = y.backward().unwrap_err();
    assert_eq!(gradient_error(&error), &GradientError::SavedTensorsFreed { operator: "aten::mul.Tensor".to_owned() });
    assert!(error.to_string().contains("retain_graph()"), "{error}");
}

#[test]
fn a_checkpoint_checks_the_versions_of_its_inputs_and_frees_them() {
    let (x, y) = (leaf_tensor(&[2.0]), Tensor::from([3.0]));
    let product = || checkpoint(|inputs| Ok(vec![(&inputs[0] * &inputs[1])?]), &[&x, &y]).unwrap().remove(0);
    let (freed, modified) = (product(), product());
    freed.backward().unwrap();
    let error = freed.backward().unwrap_err();
    assert_eq!(gradient_error(&error), &GradientError::SavedTensorsFreed { operator: "checkpoint".to_owned() });
    y.add_(1).unwrap();
    let error = modified.backward().unwrap_err();
    assert!(
        matches!(gradient_error(&error), GradientError::SavedTensorModified { saved, .. } if saved == "input 1"),
        "{error}"
    );
}

#[test]
fn integers_have_no_gradients() {
    let error = Tensor::from([1, 2]).requires_grad_(true).unwrap_err();
    assert_eq!(gradient_error(&error), &GradientError::NotDifferentiableDType { dtype: DType::I32 });
}

#[test]
fn requires_grad_false_is_an_error_for_a_computed_tensor() {
    let x = leaf_tensor(&[1.0]);
    let y = (&x * &x).unwrap();
    assert_eq!(gradient_error(&y.clone().requires_grad_(false).unwrap_err()), &GradientError::NotALeaf);
    assert!(y.requires_grad_(true).is_ok());
    assert!(!x.requires_grad_(false).unwrap().requires_grad());
}

#[test]
fn an_unused_input_of_grad_is_an_error_unless_allowed() {
    let (x, unused) = (leaf_tensor(&[1.0]), leaf_tensor(&[1.0]));
    let y = (&x * &x).unwrap();
    let error = Differentiation::of_outputs(&[&y]).retain_graph().grad(&[&x, &unused]).unwrap_err();
    assert_eq!(gradient_error(&error), &GradientError::UnusedInput { position: 1 });
    let gradients = Differentiation::of_outputs(&[&y]).allow_unused().grad(&[&unused, &x]).unwrap();
    assert!(gradients[0].is_none() && gradients[1].is_some());
}

#[test]
fn grad_stops_at_a_computed_input() {
    let x = leaf_tensor(&[3.0]);
    let y = (&x * &x).unwrap();
    let z = (&y * &y).unwrap();
    let by_both = Differentiation::of_outputs(&[&z]).retain_graph().grad(&[&y, &x]).unwrap();
    assert_eq!(by_both.iter().map(|g| elements(g.as_ref().unwrap())).collect::<Vec<_>>(), [[18.0], [108.0]]);
    // Nodes behind `y` did not run, so none of their saved tensors were freed.
    grad(&[&z], &[&y]).unwrap();
    y.backward().unwrap();
}

#[test]
fn hooks_get_complete_gradients_and_can_replace_them() {
    let x = leaf_tensor(&[1.0]);
    let y = (&x * &x).unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let keep = seen.clone();
    let _handle = y
        .register_hook(move |gradient| {
            keep.lock().unwrap().push(gradient.item::<f64>()?);
            (gradient * 10.0).map(Some)
        })
        .unwrap();
    (&y + &(&y * &y).unwrap()).unwrap().backward().unwrap();
    assert_eq!(*seen.lock().unwrap(), [3.0]);
    assert_eq!(gradient_elements(&x), [60.0]);
}

#[test]
fn retain_grad_keeps_the_gradient_of_a_computed_tensor() {
    let x = leaf_tensor(&[3.0]);
    let y = (&x * &x).unwrap();
    y.retain_grad().unwrap();
    (&y * &y).unwrap().backward().unwrap();
    assert_eq!(gradient_elements(&y), [18.0]);
    assert_eq!(gradient_elements(&x), [108.0]);
}

#[test]
fn detached_tensors_share_memory_and_no_history() {
    let x = leaf_tensor(&[2.0]);
    let y = (&x * &x).unwrap();
    let constant = y.detach().unwrap();
    assert!(!constant.requires_grad() && constant.storage().same(y.storage()));
    (&constant * &x).unwrap().backward().unwrap();
    assert_eq!(gradient_elements(&x), [4.0]);
}

#[test]
fn a_backward_on_another_thread_uses_the_thread_state_of_the_forward() {
    let x = leaf_tensor(&[2.0]);
    let y = (&x * &x).unwrap();
    std::thread::spawn(move || {
        let _off = guard::no_grad();
        y.backward().unwrap();
    })
    .join()
    .unwrap();
    assert_eq!(gradient_elements(&x), [4.0]);
}

#[test]
fn the_gradient_of_a_root_has_the_precision_of_its_dtype() {
    let x = leaf_tensor(&[8.0]);
    x.pow(1.0 / 3.0).unwrap().backward().unwrap();
    assert!((gradient_elements(&x)[0] - 1.0 / 12.0).abs() < 1e-16, "{:?}", gradient_elements(&x));
}
