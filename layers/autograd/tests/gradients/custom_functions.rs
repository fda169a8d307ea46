//! Tests of custom functions: saved tensors are checked and freed, and second derivatives go through them.

use std::sync::Arc;

use aten::prelude::*;
use dispatch_autograd::{
    Backward, BackwardContext, Differentiable, Differentiation, ForwardContext, GradientError, call_custom_function,
    grad,
};
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
    elements(&tensor.grad().expect("a gradient was computed"))
}

fn gradient_error(error: &Error) -> &GradientError {
    std::error::Error::source(error).unwrap().downcast_ref().unwrap()
}

/// A custom function of one tensor: its name, and the function that computes the gradient of the input.
struct UnaryBackward(&'static str, fn(&BackwardContext<'_>, &Tensor) -> Result<Tensor>);

impl Backward for UnaryBackward {
    fn name(&self) -> String {
        self.0.to_owned()
    }

    fn backward(&self, ctx: &BackwardContext<'_>, gradients: &[Option<Tensor>]) -> Result<Vec<Option<Tensor>>> {
        let [Some(gradient)] = gradients else { return Ok(vec![None]) };
        Ok(vec![Some(self.1(ctx, gradient)?)])
    }
}

/// Computes the cube with a custom function that saves its input.
fn cube_by_custom_function(x: &Tensor) -> Result<Tensor> {
    let backward = UnaryBackward("cube", |ctx, gradient| {
        let x = &ctx.saved_tensors()?[0];
        gradient * &(&(x * x)? * 3.0)?
    });
    let forward = |ctx: &mut ForwardContext| {
        ctx.save(x);
        Ok(vec![(&(x * x)? * x)?])
    };
    Ok(call_custom_function(&[x], backward, forward)?.remove(0))
}

/// Computes `exp` with a custom function that saves its output.
fn exp_by_custom_function(x: &Tensor) -> Result<Tensor> {
    let backward = UnaryBackward("exp", |ctx, gradient| gradient * &ctx.saved_tensors()?[0]);
    let forward = |ctx: &mut ForwardContext| {
        let y = x.exp()?;
        ctx.save(&y);
        Ok(vec![y])
    };
    Ok(call_custom_function(&[x], backward, forward)?.remove(0))
}

#[test]
fn gradients_go_through_a_saved_input_and_a_saved_output() -> Result<()> {
    let x = leaf_tensor(&[1., 2.]);
    cube_by_custom_function(&x)?.sum()?.backward()?;
    assert_eq!(gradient_elements(&x), [3., 12.]);
    let x = leaf_tensor(&[0., 1.]);
    exp_by_custom_function(&x)?.sum()?.backward()?;
    assert_eq!(gradient_elements(&x), [1., 1f64.exp()]);
    Ok(())
}

#[test]
fn second_and_third_derivatives_go_through_saved_tensors() -> Result<()> {
    let x = leaf_tensor(&[0.5, 2.]);
    for (function, expected) in [
        (cube_by_custom_function as fn(&Tensor) -> Result<Tensor>, [[3., 12.], [6., 6.]]),
        (exp_by_custom_function, [[0.5f64.exp(), 2f64.exp()], [0.5f64.exp(), 2f64.exp()]]),
    ] {
        // The input is no leaf, so the second derivative also needs its history.
        let y = function(&(&x * 1.0)?)?.sum()?;
        let mut derivative = Differentiation::of_outputs(&[&y]).create_graph().grad(&[&x])?.remove(0).unwrap();
        for expected in expected {
            derivative =
                Differentiation::of_outputs(&[&derivative.sum()?]).create_graph().grad(&[&x])?.remove(0).unwrap();
            for (found, expected) in elements(&derivative).into_iter().zip(expected) {
                assert!((found - expected).abs() < 1e-12, "{found} for {expected}");
            }
        }
    }
    Ok(())
}

#[test]
fn a_write_to_a_saved_tensor_is_an_error_that_names_both() -> Result<()> {
    let x = (leaf_tensor(&[1., 2.]) * 1.0)?;
    let (of_saved_input, saved_output) = (cube_by_custom_function(&x)?, exp_by_custom_function(&x)?);
    for (name, y, saved) in [("cube", of_saved_input, x.clone()), ("exp", saved_output.clone(), saved_output.clone())] {
        saved.mul_(2.0)?;
        let error = y.sum()?.backward().unwrap_err();
        let GradientError::SavedTensorModified { operator, saved, sizes, version, found, .. } = gradient_error(&error)
        else {
            panic!("{error}")
        };
        assert_eq!((&**operator, &**saved, &**sizes, found - version), (name, "saved tensor 0", &[2][..], 1));
        assert!(error.to_string().contains(name), "{error}");
    }
    Ok(())
}

#[test]
fn a_write_in_the_forward_after_the_save_is_an_error() -> Result<()> {
    let x = leaf_tensor(&[1., 2.]);
    let backward = UnaryBackward("late", |ctx, _| Ok(ctx.saved_tensors()?.remove(0)));
    let y = call_custom_function(&[&x], backward, |ctx| {
        let y = x.exp()?;
        ctx.save(&y);
        y.mul_(2.0)?;
        Ok(vec![y])
    })?;
    let error = y[0].sum()?.backward().unwrap_err();
    assert!(
        matches!(gradient_error(&error), GradientError::SavedTensorModified { operator, .. } if operator == "late"),
        "{error}"
    );
    Ok(())
}

#[test]
fn the_second_saved_tensor_is_named_by_its_position() -> Result<()> {
    let (x, constant) = (leaf_tensor(&[1.]), Tensor::from([3.]));
    let backward = UnaryBackward("twice", |ctx, gradient| gradient * &ctx.saved_tensors()?[1]);
    let y = call_custom_function(&[&x], backward, |ctx| {
        ctx.save(&x);
        ctx.save(&constant);
        Ok(vec![(&x * &constant)?])
    })?;
    constant.clone().add_(1)?;
    let error = y[0].backward().unwrap_err();
    assert!(
        matches!(gradient_error(&error), GradientError::SavedTensorModified { saved, .. } if saved == "saved tensor 1"),
        "{error}"
    );
    Ok(())
}

#[test]
fn a_second_backward_needs_the_graph_retained() -> Result<()> {
    for (name, function) in
        [("cube", cube_by_custom_function as fn(&Tensor) -> Result<Tensor>), ("exp", exp_by_custom_function)]
    {
        let x = leaf_tensor(&[1., 2.]);
        let y = function(&x)?.sum()?;
        Differentiation::of_outputs(&[&y]).retain_graph().backward()?;
        y.backward()?;
        let error = y.backward().unwrap_err();
        assert_eq!(gradient_error(&error), &GradientError::SavedTensorsFreed { operator: name.to_owned() });
    }
    Ok(())
}

#[test]
fn a_second_backward_is_possible_if_nothing_was_saved() -> Result<()> {
    let x = leaf_tensor(&[0.4]);
    let y = call_custom_function(&[&x], UnaryBackward("round", |_, gradient| Ok(gradient.clone())), |_| {
        Ok(vec![x.round()?])
    })?;
    y[0].backward()?;
    y[0].backward()?;
    assert_eq!(gradient_elements(&x), [2.]);
    Ok(())
}

/// An extension whose reference count tells when a tensor's body is dropped.
struct CountedExtension(#[expect(dead_code, reason = "it is only counted")] Arc<()>);

fn attach_counter(tensor: &Tensor, counter: &Arc<()>) {
    tensor.extension_or_init(|| CountedExtension(counter.clone()));
}

#[test]
fn saved_tensors_are_freed_with_the_graph_or_by_a_backward() -> Result<()> {
    let counter = Arc::new(());
    let x = leaf_tensor(&[1., 2.]);
    let graph = || -> Result<Tensor> {
        let input = (&x * 1.0)?;
        attach_counter(&input, &counter);
        let output = exp_by_custom_function(&cube_by_custom_function(&input)?)?;
        attach_counter(&output, &counter);
        output.sum()
    };
    drop(graph()?);
    assert_eq!(Arc::strong_count(&counter), 1, "the graph has no reference cycle");
    let sum = graph()?;
    assert_eq!(Arc::strong_count(&counter), 2, "only the input is saved with its handle");
    let first = Differentiation::of_outputs(&[&sum]).create_graph().grad(&[&x])?;
    drop((sum, first));
    assert_eq!(Arc::strong_count(&counter), 1, "a recorded backward leaves no reference cycle");
    let sum = graph()?;
    sum.backward()?;
    assert_eq!(Arc::strong_count(&counter), 1, "a backward frees what was saved");
    drop(sum);
    Ok(())
}

#[test]
fn an_output_is_copied_only_if_it_has_another_handle() -> Result<()> {
    let x = leaf_tensor(&[1.]);
    let (mut inner, mut other) = (0, None);
    let mut run = |keep: bool| {
        let outputs =
            call_custom_function(&[&x], UnaryBackward("kept", |ctx, _| Ok(ctx.saved_tensors()?.remove(0))), |ctx| {
                let y = x.exp()?;
                ctx.save(&y);
                inner = y.identity();
                other = keep.then(|| y.clone());
                Ok(vec![y])
            })?;
        Ok::<_, Error>(outputs[0].identity() == inner)
    };
    assert!(run(false)?, "the saved handle does not count");
    assert!(!run(true)?);
    assert!(other.is_some());
    Ok(())
}

#[test]
fn an_input_that_is_returned_and_saved_keeps_its_history() -> Result<()> {
    let x = leaf_tensor(&[3.]);
    // The backward is deliberately not the derivative of the identity, so that a second derivative shows which path it took.
    let backward = UnaryBackward("odd", |ctx, gradient| gradient * &ctx.saved_tensors()?[0]);
    let y = call_custom_function(&[&x], backward, |ctx| {
        ctx.save(&x);
        Ok(vec![x.clone()])
    })?
    .remove(0);
    assert!(!y.same(&x));
    let first = Differentiation::of_outputs(&[&y]).create_graph().grad(&[&x])?.remove(0).unwrap();
    assert_eq!((elements(&first), elements(&grad(&[&first], &[&x])?[0].clone().unwrap())), (vec![3.], vec![1.]));
    Ok(())
}

/// A product of two tensors whose backward computes only requested gradients.
struct ProductBackward;

impl Backward for ProductBackward {
    fn name(&self) -> String {
        "product".to_owned()
    }

    fn backward(&self, ctx: &BackwardContext<'_>, gradients: &[Option<Tensor>]) -> Result<Vec<Option<Tensor>>> {
        let [Some(gradient)] = gradients else { return Ok(vec![None, None]) };
        let saved = ctx.saved_tensors()?;
        let of = |input: usize, other: usize| ctx.needs_gradient(input).then(|| gradient * &saved[other]).transpose();
        assert!(!ctx.needs_gradient(2));
        Ok(vec![of(0, 1)?, of(1, 0)?])
    }
}

#[test]
fn the_backward_knows_which_gradients_are_requested() -> Result<()> {
    let (x, constant) = (leaf_tensor(&[2.]), Tensor::from([5.]));
    let y = call_custom_function(&[&x, &constant], ProductBackward, |ctx| {
        ctx.save(&x);
        ctx.save(&constant);
        Ok(vec![(&x * &constant)?])
    })?;
    y[0].backward()?;
    assert_eq!(gradient_elements(&x), [5.]);
    assert!(constant.grad().is_none());
    Ok(())
}

#[test]
fn an_inference_tensor_is_saved_only_if_nothing_is_recorded() -> Result<()> {
    let constant = {
        let _inference = guard::inference_mode();
        Tensor::from([2.])
    };
    assert_eq!(elements(&cube_by_custom_function(&constant)?), [8.]);
    let x = leaf_tensor(&[1.]);
    let error = call_custom_function(&[&x], UnaryBackward("scale", |_, gradient| Ok(gradient.clone())), |ctx| {
        ctx.save(&constant);
        Ok(vec![(&x * 2.0)?])
    })
    .unwrap_err();
    let expected =
        GradientError::InferenceTensorSaved { operator: "scale".to_owned(), saved: "saved tensor 0".to_owned() };
    assert_eq!(gradient_error(&error), &expected);
    Ok(())
}

#[test]
fn the_forward_is_not_recorded() -> Result<()> {
    let x = leaf_tensor(&[2.]);
    {
        let _no_grad = guard::no_grad();
        assert!(!cube_by_custom_function(&x)?.requires_grad());
    }
    assert!(!cube_by_custom_function(&Tensor::from([2.]))?.requires_grad());
    assert!(cube_by_custom_function(&x)?.requires_grad());
    Ok(())
}
