//! Gradients of views: zeros, with the gradient copied to the viewed elements.

use dispatch_runtime::BadArgument;
use dispatch_runtime::prelude::*;

/// Creates zeros for the gradient of a tensor of these sizes.
pub(crate) fn new_zero_gradient(grad: &Tensor, sizes: &[i64]) -> Result<Tensor> {
    crate::zeros(sizes, Some(grad.dtype()), None, Some(grad.device()), None)
}

/// Computes the gradient of [`select_int`](crate::select_int).
#[op_def(
    "select_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt index) -> Tensor",
    out = "out", body = CompositeExplicitAutograd
)]
pub fn select_backward(grad_output: &Tensor, input_sizes: &[i64], dim: i64, index: i64) -> Result<Tensor> {
    let grad = new_zero_gradient(grad_output, input_sizes)?;
    crate::copy_(&mut crate::select_int(&grad, dim, index)?, grad_output, false)?;
    Ok(grad)
}

/// Computes the gradient of [`slice`](crate::slice).
#[op_def(
    "slice_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt start, SymInt end, SymInt step) -> Tensor",
    out = "out", body = CompositeExplicitAutograd
)]
pub fn slice_backward(_: ...) -> Result<Tensor> {
    let grad = new_zero_gradient(grad_output, input_sizes)?;
    crate::copy_(&mut crate::slice(&grad, dim, Some(start), Some(end), step)?, grad_output, false)?;
    Ok(grad)
}

/// Computes the gradient of [`diagonal`](crate::diagonal).
#[op_def(
    "diagonal_backward(Tensor grad_output, SymInt[] input_sizes, int offset, int dim1, int dim2) -> Tensor",
    out = "out", body = CompositeExplicitAutograd
)]
pub fn diagonal_backward(_: ...) -> Result<Tensor> {
    let grad = new_zero_gradient(grad_output, input_sizes)?;
    crate::copy_(&mut crate::diagonal(&grad, offset, dim1, dim2)?, grad_output, false)?;
    Ok(grad)
}

/// Computes the gradient of [`unfold`](crate::unfold). Overlapping windows are summed.
#[op_def(
    "unfold_backward(Tensor grad_in, SymInt[] input_sizes, int dim, int size, int step) -> Tensor",
    out = "out", body = CompositeExplicitAutograd
)]
pub fn unfold_backward(grad_in: &Tensor, input_sizes: &[i64], dim: i64, size: i64, step: i64) -> Result<Tensor> {
    let grad = new_zero_gradient(grad_in, input_sizes)?;
    let windows = crate::unfold(&grad, dim, size, step)?;
    if windows.sizes() != grad_in.sizes() {
        return Err(BadArgument::sizes("grad_in", grad_in.sizes(), windows.sizes()).because("the windows have").into());
    }
    if input_sizes.is_empty() {
        crate::add_(&mut windows.clone(), grad_in, 1.into())?;
        return Ok(grad);
    }
    // Adds one index of all windows at a time, as these elements do not overlap.
    for at in 0..size {
        let mut window_elements = crate::select_int(&windows, -1, at)?;
        crate::add_(&mut window_elements, &crate::select_int(grad_in, -1, at)?, 1.into())?;
    }
    Ok(grad)
}
