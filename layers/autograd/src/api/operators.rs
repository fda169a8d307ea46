//! The kernels of PyTorch's operators for autograd's state: `requires_grad_`, `detach_`, `_backward` and others.

use dispatch_runtime::{Marks, Result, Tensor, op_impl};

use crate::api::differentiable::Differentiable;
use crate::api::differentiation::Differentiation;
use crate::error::GradientError;
use crate::graph::history;
use crate::graph::node::Edge;

#[op_impl(aten::output_nr, Autograd)]
fn output_nr(this: &Tensor) -> Result<i64> {
    Ok(match history::gradient_edge(this)? {
        Some(Edge::Node(_, result)) => result.into(),
        _ => 0,
    })
}

#[op_impl(aten::retains_grad, Autograd)]
fn retains_grad(this: &Tensor) -> bool {
    history::retains_gradient(this)
}

#[op_impl(aten::retain_grad, Autograd)]
fn retain_grad(this: &mut Tensor) -> Result<()> {
    Differentiable::retain_grad(this)
}

#[op_impl(aten::requires_grad_, Autograd)]
fn requires_grad_(this: &mut Tensor, requires_grad: bool) -> Result<()> {
    this.clone().requires_grad_(requires_grad).map(drop)
}

/// A view shares the history of its base, so it cannot lose it alone.
#[op_impl(aten::detach_, Autograd)]
fn detach_(this: &mut Tensor) -> Result<()> {
    if this.has_any_mark(Marks::VIEW) {
        return Err(GradientError::ViewDetached.into());
    }
    history::remove(this);
    Ok(())
}

#[op_impl(aten::_backward, Autograd)]
fn backward(
    this: &Tensor,
    inputs: &[Tensor],
    gradient: Option<&Tensor>,
    retain_graph: Option<bool>,
    create_graph: bool,
) -> Result<()> {
    let outputs = [this];
    let seeds: Vec<&Tensor> = gradient.into_iter().collect();
    let mut differentiation = Differentiation::of_outputs(&outputs);
    if !seeds.is_empty() {
        differentiation = differentiation.with_seeds(&seeds);
    }
    if create_graph {
        differentiation = differentiation.create_graph();
    }
    if retain_graph.unwrap_or(create_graph) {
        differentiation = differentiation.retain_graph();
    }
    if inputs.is_empty() {
        return differentiation.backward();
    }
    let inputs: Vec<&Tensor> = inputs.iter().collect();
    let gradients = differentiation.grad(&inputs)?;
    for (input, gradient) in inputs.into_iter().zip(gradients) {
        let sum = match (input.grad(), gradient) {
            (Some(before), Some(gradient)) => Some(aten::add(&before, &gradient, 1.into())?),
            (before, gradient) => gradient.or(before),
        };
        input.set_grad(sum)?;
    }
    Ok(())
}
