//! Tests of checkpoints with captured tensors, and of checkpoints and transforms in inference mode.

#![expect(clippy::float_cmp, reason = "gradients of small whole numbers are exact")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use aten::prelude::*;
use dispatch_autograd::{Differentiable, Differentiation, checkpoint, functional, grad};
use dispatch_runtime::{Result, Tensor, guard};
use kernels_cpu as _;

fn leaf_tensor(values: &[f64]) -> Tensor {
    Tensor::from_slice(values).requires_grad_(true).unwrap()
}

fn elements(tensor: &Tensor) -> Vec<f64> {
    tensor.to_vec().unwrap()
}

fn gradient_elements(tensor: &Tensor) -> Vec<f64> {
    elements(&tensor.grad().expect("a gradient was computed"))
}

fn gradient_elements_of_all(gradients: &[Option<Tensor>]) -> Vec<Vec<f64>> {
    gradients.iter().map(|gradient| elements(gradient.as_ref().expect("a gradient was computed"))).collect()
}

/// Returns the product of the input and a captured tensor, computed in a checkpoint.
fn multiply_in_checkpoint(input: &Tensor, captured: &Tensor) -> Result<Tensor> {
    let captured = captured.clone();
    Ok(checkpoint(move |inputs| Ok(vec![(&inputs[0] * &captured)?]), &[input])?.remove(0))
}

fn error_message(error: &dispatch_runtime::Error) -> String {
    error.to_string()
}

fn run_backward(sum: &Tensor, recorded: bool) -> Result<()> {
    let outputs = [sum];
    let task = Differentiation::of_outputs(&outputs);
    if recorded { task.create_graph().backward() } else { task.backward() }
}

#[test]
fn a_captured_weight_gets_a_gradient_if_the_input_does_not() -> Result<()> {
    let (weight, head) = (leaf_tensor(&[3., 4.]), leaf_tensor(&[1., 1.]));
    let hidden = multiply_in_checkpoint(&Tensor::from([1., 2.]), &weight)?;
    (&hidden * &head)?.sum()?.backward()?;
    assert_eq!((gradient_elements(&weight), gradient_elements(&head)), (vec![1., 2.], vec![3., 8.]));
    Ok(())
}

#[test]
fn a_recorded_backward_reaches_captured_tensors() -> Result<()> {
    let (x, weight) = (leaf_tensor(&[1., 2.]), leaf_tensor(&[3., 4.]));
    let sum = multiply_in_checkpoint(&x, &weight)?.sum()?;
    Differentiation::of_outputs(&[&sum]).create_graph().backward()?;
    assert_eq!((gradient_elements(&x), gradient_elements(&weight)), (vec![3., 4.], vec![1., 2.]));
    Ok(())
}

#[test]
fn grad_returns_the_complete_gradient_of_a_captured_tensor() -> Result<()> {
    let (x, weight) = (leaf_tensor(&[1., 2.]), leaf_tensor(&[3., 4.]));
    let sum = (multiply_in_checkpoint(&x, &weight)?.sum()? + weight.sum()?)?;
    assert_eq!(gradient_elements_of_all(&grad(&[&sum], &[&weight])?), [[2., 3.]]);
    Ok(())
}

#[test]
fn grad_does_not_accumulate_into_captured_leaves() -> Result<()> {
    let (x, weight) = (leaf_tensor(&[1., 2.]), leaf_tensor(&[3., 4.]));
    assert_eq!(gradient_elements_of_all(&grad(&[&multiply_in_checkpoint(&x, &weight)?.sum()?], &[&x])?), [[3., 4.]]);
    assert!(x.grad().is_none() && weight.grad().is_none());
    Ok(())
}

#[test]
fn second_derivatives_equal_those_without_checkpoint() -> Result<()> {
    let derivatives = |checkpointed: bool| -> Result<Vec<Vec<f64>>> {
        let (x, weight) = (leaf_tensor(&[0.5, 2.]), leaf_tensor(&[3., 0.25]));
        let captured = weight.clone();
        let block = move |inputs: &[Tensor]| Ok(vec![(&(&inputs[0] * &captured)?.sin()? * &captured)?]);
        let y = if checkpointed { checkpoint(block, &[&x])? } else { block(std::slice::from_ref(&x))? }.remove(0);
        let first = Differentiation::of_outputs(&[&y.sum()?]).create_graph().grad(&[&x, &weight])?;
        let both = (first[0].as_ref().unwrap() * first[1].as_ref().unwrap())?.sum()?;
        let mut all = gradient_elements_of_all(&first);
        all.extend(gradient_elements_of_all(&grad(&[&both], &[&x, &weight])?));
        Ok(all)
    };
    let (checkpointed, plain) = (derivatives(true)?.concat(), derivatives(false)?.concat());
    assert_eq!(plain.len(), 8);
    for (checkpointed, plain) in checkpointed.iter().zip(&plain) {
        assert!((checkpointed - plain).abs() < 1e-12, "{checkpointed} for {plain}");
    }
    Ok(())
}

#[test]
fn captured_tensors_can_depend_on_other_inputs() -> Result<()> {
    // The weight is reached directly and through the square, and each path must count once.
    for recorded in [false, true] {
        let (x, weight) = (leaf_tensor(&[1., 2.]), leaf_tensor(&[3., 4.]));
        let square = (&weight * &weight)?;
        let (w, s) = (weight.clone(), square.clone());
        let y = checkpoint(move |inputs| Ok(vec![(&(&inputs[0] * &w)? * &s)?]), &[&x])?.remove(0);
        let sum = y.sum()?;
        let gradients = Differentiation::of_outputs(&[&sum]).retain_graph().grad(&[&x, &weight, &square])?;
        assert_eq!(gradient_elements_of_all(&gradients), [[27., 64.], [27., 96.], [3., 8.]]);
        run_backward(&sum, recorded)?;
        assert_eq!((gradient_elements(&x), gradient_elements(&weight)), (vec![27., 64.], vec![27., 96.]));
    }
    Ok(())
}

#[test]
fn a_recorded_backward_counts_dependent_inputs_once() -> Result<()> {
    let x = leaf_tensor(&[2., 3.]);
    let square = (&x * &x)?;
    let cube = checkpoint(|inputs| Ok(vec![(&inputs[0] * &inputs[1])?]), &[&x, &square])?.remove(0);
    let first = Differentiation::of_outputs(&[&cube.sum()?]).create_graph().grad(&[&x])?;
    assert_eq!(gradient_elements_of_all(&first), [[12., 27.]]);
    assert_eq!(gradient_elements_of_all(&grad(&[&first[0].as_ref().unwrap().sum()?], &[&x])?), [[12., 18.]]);
    Ok(())
}

#[test]
fn a_hook_on_a_captured_tensor_runs_once() -> Result<()> {
    let (weight, calls) = (leaf_tensor(&[3., 4.]), Arc::new(AtomicUsize::new(0)));
    let computed = (&weight * 1.0)?;
    let doubling = |tensor: &Tensor| {
        let calls = calls.clone();
        tensor.register_hook(move |gradient| {
            calls.fetch_add(1, Ordering::Relaxed);
            Ok(Some((gradient * 2.0)?))
        })
    };
    let _stay = [doubling(&weight)?, doubling(&computed)?];
    let y = multiply_in_checkpoint(&multiply_in_checkpoint(&Tensor::from([1., 2.]), &weight)?, &computed)?;
    y.sum()?.backward()?;
    // The part of the gradient of `weight` that does not go through `computed`, 1 * 3 and 2 * 4, is doubled once. The other part is
    // doubled twice.
    assert_eq!((gradient_elements(&weight), calls.load(Ordering::Relaxed)), (vec![18., 48.], 2));
    Ok(())
}

#[test]
fn nested_checkpoints_capture_tensors_of_the_outer_one() -> Result<()> {
    for recorded in [false, true] {
        let (x, weight) = (leaf_tensor(&[1., 2.]), leaf_tensor(&[3., 4.]));
        let captured = weight.clone();
        let block = move |inputs: &[Tensor]| {
            let square = (&captured * &captured)?;
            Ok(vec![multiply_in_checkpoint(&multiply_in_checkpoint(&inputs[0], &square)?, &captured)?])
        };
        let sum = checkpoint(block, &[&x])?[0].sum()?;
        run_backward(&sum, recorded)?;
        assert_eq!((gradient_elements(&x), gradient_elements(&weight)), (vec![27., 64.], vec![27., 96.]));
    }
    Ok(())
}

#[test]
fn a_tensor_recorded_on_another_thread_counts_as_captured() -> Result<()> {
    let weight = leaf_tensor(&[3., 4.]);
    let of_thread = weight.clone();
    let computed = std::thread::spawn(move || -> Result<Tensor> {
        let mut computed = of_thread;
        for _ in 0..100 {
            computed = (&computed * 1.0)?;
        }
        &computed * &computed
    });
    let computed = computed.join().unwrap()?;
    let y = multiply_in_checkpoint(&Tensor::from([1., 2.]), &computed)?.sum()?;
    let gradients = grad(&[&y], &[&computed, &weight])?;
    assert_eq!(gradient_elements_of_all(&gradients), [[1., 2.], [6., 16.]]);
    Ok(())
}

#[test]
fn a_captured_view_gets_gradients_of_writes_to_its_base() -> Result<()> {
    let weight = leaf_tensor(&[3., 4., 5.]);
    let base = (&weight * 1.0)?;
    let view = base.narrow(0, 0, 2)?;
    base.mul_(Tensor::from([2., 2., 2.]))?;
    let sum = multiply_in_checkpoint(&Tensor::from([1., 2.]), &view)?.sum()?;
    Differentiation::of_outputs(&[&sum]).retain_graph().backward()?;
    assert_eq!(gradient_elements(&weight), [2., 4., 0.]);
    sum.backward()?;
    assert_eq!(gradient_elements(&weight), [4., 8., 0.]);
    Ok(())
}

#[test]
fn an_output_can_be_an_input_or_a_captured_tensor() -> Result<()> {
    let (x, weight) = (leaf_tensor(&[1., 2.]), leaf_tensor(&[3., 4.]));
    let captured = weight.clone();
    let outputs = checkpoint(move |inputs| Ok(vec![inputs[0].clone(), captured.clone()]), &[&x])?;
    (&outputs[0] * &outputs[1])?.sum()?.backward()?;
    assert_eq!((gradient_elements(&x), gradient_elements(&weight)), (vec![3., 4.], vec![1., 2.]));
    let copy = outputs.into_iter().next().unwrap();
    copy.zero_()?;
    assert_eq!(x.to_vec::<f64>()?, [1., 2.]);
    Ok(())
}

#[test]
fn a_backward_can_start_from_one_of_several_outputs() -> Result<()> {
    let (x, weight) = (leaf_tensor(&[1., 2.]), leaf_tensor(&[3., 4.]));
    let captured = weight.clone();
    let block = move |inputs: &[Tensor]| Ok(vec![(&inputs[0] * 2.0)?, (&inputs[0] * &captured)?]);
    let outputs = checkpoint(block, &[&x])?;
    outputs[0].sum()?.backward()?;
    assert_eq!(gradient_elements(&x), [2., 2.]);
    assert!(weight.grad().is_none());
    Ok(())
}

#[test]
fn intermediate_tensors_of_the_forward_are_freed() -> Result<()> {
    let (weight, inner) = (leaf_tensor(&[3., 4.]), Arc::new(Mutex::new(Vec::new())));
    let (captured, seen) = (weight.clone(), inner.clone());
    let block = move |inputs: &[Tensor]| {
        let product = (&inputs[0] * &captured)?;
        seen.lock().unwrap().push(product.clone());
        Ok(vec![product.sin()?])
    };
    let y = checkpoint(block, &[&Tensor::from([1., 2.])])?.remove(0);
    let mut product = inner.lock().unwrap().pop().unwrap();
    assert!(product.is_only_handle(), "the product has no other handle");
    y.sum()?.backward()?;
    assert_eq!(gradient_elements(&weight), [3f64.cos(), 2. * 8f64.cos()]);
    Ok(())
}

#[test]
fn a_function_can_compute_gradients_of_its_own_leaf() -> Result<()> {
    let (x, weight) = (leaf_tensor(&[1., 2.]), leaf_tensor(&[3., 4.]));
    let captured = weight.clone();
    // The derivative of w y^2 with respect to y at y = x is 2 w x. Its graph contains the leaf that the function made.
    let force = move |inputs: &[Tensor]| {
        let y = inputs[0].detach()?.requires_grad_(true)?;
        let energy = (&(&y * &y)? * &captured)?.sum()?;
        let force = Differentiation::of_outputs(&[&energy]).create_graph().grad(&[&y])?.remove(0).unwrap();
        Ok(vec![(&force * &inputs[0])?])
    };
    checkpoint(force, &[&x])?[0].sum()?.backward()?;
    assert_eq!((gradient_elements(&x), gradient_elements(&weight)), (vec![6., 16.], vec![2., 8.]));
    Ok(())
}

#[test]
fn a_write_to_a_captured_leaf_is_an_error() -> Result<()> {
    let weight = leaf_tensor(&[3., 4.]);
    let y = multiply_in_checkpoint(&leaf_tensor(&[1., 2.]), &weight)?.sum()?;
    {
        let _unrecorded = guard::no_grad();
        weight.mul_(Tensor::from([2., 2.]))?;
    }
    let error = error_message(&y.backward().unwrap_err());
    assert!(error.contains("captured leaf 0") && error.contains("written to"), "{error}");
    Ok(())
}

#[test]
fn different_captured_tensors_in_the_recomputation_are_an_error() -> Result<()> {
    let current = Arc::new(Mutex::new(leaf_tensor(&[3., 4.])));
    let captured = current.clone();
    let block = move |inputs: &[Tensor]| Ok(vec![(&inputs[0] * &*captured.lock().unwrap())?]);
    let y = checkpoint(block, &[&leaf_tensor(&[1., 2.])])?[0].sum()?;
    *current.lock().unwrap() = leaf_tensor(&[5., 6.]);
    let error = error_message(&y.backward().unwrap_err());
    assert!(error.contains("other tensors that require gradients"), "{error}");
    Ok(())
}

#[test]
fn inside_of_a_transform_a_checkpoint_only_calls_its_function() -> Result<()> {
    let (x, weight) = (Tensor::from(2.0), leaf_tensor(&[3.]));
    let cube = |x: &Tensor| {
        let captured = x.clone();
        Ok(checkpoint(move |inputs| Ok(vec![(&(&inputs[0] * &captured)? * &captured)?]), &[x])?.remove(0))
    };
    assert_eq!(functional::grad(cube, &x)?.item::<f64>()?, 12.0);
    assert_eq!(functional::grad(|x| functional::grad(cube, x), &x)?.item::<f64>()?, 12.0);
    let gradient_of = functional::grad(|x| multiply_in_checkpoint(x, &weight)?.sum(), &x)?;
    gradient_of.backward()?;
    assert_eq!(gradient_elements(&weight), [1.]);
    Ok(())
}

#[test]
fn transforms_differentiate_in_inference_mode() -> Result<()> {
    let _inference = guard::inference_mode();
    let x = Tensor::from(2.0);
    assert!(x.is_inference());
    let cube = |x: &Tensor| x * &(x * x)?;
    assert_eq!(functional::grad(|x| x * x, &x)?.item::<f64>()?, 4.0);
    assert_eq!(functional::grad(|x| functional::grad(cube, x), &x)?.item::<f64>()?, 12.0);
    let in_place = |x: &Tensor| {
        let y = (x * 1.0)?;
        y.view(1)?.mul_(x)?;
        y.mul_(x)?;
        Ok(y)
    };
    assert_eq!(functional::grad(in_place, &x)?.item::<f64>()?, 12.0);
    let (_, pullback) = functional::vjp(cube, &x)?;
    assert_eq!(pullback.call(&Tensor::from(2.0))?.item::<f64>()?, 24.0);
    let (_, change) = functional::jvp(cube, &x, &Tensor::from(1.0))?;
    assert_eq!(change.item::<f64>()?, 12.0);
    assert!(guard::is_inference_mode() && (&x * &x)?.is_inference());
    Ok(())
}

#[test]
fn a_transform_in_inference_mode_records_nothing_outside() -> Result<()> {
    let weight = leaf_tensor(&[3.]);
    let gradient = {
        let _inference = guard::inference_mode();
        functional::grad(|x| (x * &weight)?.sum(), &Tensor::from([2.0]))?
    };
    assert_eq!(elements(&gradient), [3.]);
    assert!(!gradient.requires_grad());
    Ok(())
}

#[test]
fn saving_a_captured_inference_tensor_is_an_error() -> Result<()> {
    let _inference = guard::inference_mode();
    let (x, weight) = (Tensor::from(2.0), Tensor::from(3.0));
    let error = error_message(&functional::grad(|x| x * &weight, &x).unwrap_err());
    assert!(error.contains("made in inference mode"), "{error}");
    assert_eq!(functional::grad(|x| x * &aten::clone(&weight, None)?, &x)?.item::<f64>()?, 3.0);
    Ok(())
}
