//! Operators of a tensor's gradient: whether it requires one, how it was computed, and the backward pass. The layer autograd has their
//! kernels; those here run if it is not linked, and in inference mode.

use dispatch_runtime::BadArgument;
use dispatch_runtime::prelude::*;

/// Returns whether the tensor was not computed from tensors that require gradients.
#[op_def("is_leaf(Tensor self) -> bool")]
pub fn is_leaf(this: &Tensor) -> Result<bool> {
    Ok(this.is_leaf())
}

/// Returns whether the tensor was created in inference mode.
#[op_def("is_inference(Tensor self) -> bool")]
pub fn is_inference(this: &Tensor) -> Result<bool> {
    Ok(this.is_inference())
}

/// Returns the number of writes to the tensor's memory so far. It counts those of the kernel that computed the tensor.
#[op_def("_version(Tensor self) -> int")]
pub fn _version(this: &Tensor) -> Result<i64> {
    Ok(i64::try_from(this.storage().version()).unwrap_or(i64::MAX))
}

/// Returns the position of the tensor among the results of the call that computed it.
#[op_def("output_nr(Tensor self) -> int", body = CompositeExplicitAutograd)]
pub fn output_nr(_: ...) -> Result<i64> {
    let _ = this;
    Ok(0)
}

/// Returns whether the gradient of a computed tensor is retained.
#[op_def("retains_grad(Tensor self) -> bool", body = CompositeExplicitAutograd)]
pub fn retains_grad(_: ...) -> Result<bool> {
    let _ = this;
    Ok(false)
}

/// Retains the gradient of a computed tensor in later backward passes.
#[op_def("retain_grad(Tensor(a!) self) -> ()", body = CompositeExplicitAutograd)]
pub fn retain_grad(this: &mut Tensor) -> Result<()> {
    let _ = this;
    Err(nothing_recorded())
}

/// Sets whether calls with this leaf are recorded.
#[op_def("requires_grad_(Tensor(a!) self, bool requires_grad=True) -> Tensor(a!)", body = CompositeExplicitAutograd)]
pub fn requires_grad_(this: &mut Tensor, requires_grad: bool) -> Result<()> {
    if requires_grad && !this.requires_grad() { Err(nothing_recorded()) } else { Ok(()) }
}

/// Removes the history of a tensor: it becomes a leaf that requires no gradients.
#[op_def("detach_(Tensor(a!) self) -> Tensor(a!)", body = CompositeExplicitAutograd)]
pub fn detach_(this: &mut Tensor) -> Result<()> {
    let _ = this;
    Ok(())
}

/// Computes the gradients of leaves and adds them to the gradients that the leaves have accumulated: of `inputs`, or of all if it is empty.
#[op_def(
    "_backward(Tensor self, Tensor[] inputs, Tensor? gradient=None, bool? retain_graph=None, bool create_graph=False) -> ()",
    body = CompositeExplicitAutograd
)]
pub fn _backward(_: ...) -> Result<()> {
    let _ = (this, inputs, gradient, retain_graph, create_graph);
    Err(nothing_recorded())
}

fn nothing_recorded() -> Error {
    let expected = "a call that is recorded: outside of inference mode, in a program that links `dispatch_autograd`";
    BadArgument::value("self", "a tensor in a call that is not recorded", expected).into()
}
