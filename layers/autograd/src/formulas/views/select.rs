//! Gradient formulas of views of a part of a tensor, and of splits.

use aten::prelude::*;
use dispatch_runtime::prelude::*;
use dispatch_runtime::{Dims, wrap_dim};

use crate::TensorOutline;

derivatives! {
    select_int(grad; this: &TensorOutline, dim: i64, index: i64) => aten::select_backward(grad, this.sizes(), dim, index);
    select_backward(grad; dim: i64, index: i64) => grad.select(dim, index);
    slice(grad; this: &TensorOutline, dim: i64, start: Option<i64>, end: Option<i64>, step: i64) =>
        aten::slice_backward(grad, this.sizes(), dim, start.unwrap_or(0), end.unwrap_or(i64::MAX), step);
    slice_backward(grad; dim: i64, start: i64, end: i64, step: i64) =>
        aten::slice(grad, dim, Some(start), Some(end), step);
    diagonal(grad; this: &TensorOutline, offset: i64, dim1: i64, dim2: i64) =>
        aten::diagonal_backward(grad, this.sizes(), offset, dim1, dim2);
    diagonal_backward(grad; offset: i64, dim1: i64, dim2: i64) => aten::diagonal(grad, offset, dim1, dim2);
    unfold(grad; this: &TensorOutline, dimension: i64, size: i64, step: i64) =>
        aten::unfold_backward(grad, this.sizes(), dimension, size, step);
    unfold_backward(grad; dim: i64, size: i64, step: i64) => aten::unfold(grad, dim, size, step);
}

fn split_gradient(grads: &[Option<Tensor>], this: &TensorOutline, split_size: i64, dim: i64) -> Result<Tensor> {
    let whole = this.sizes()[wrap_dim("dim", dim, this.rank())?];
    let sizes = (0..).map(|part: i64| split_size.min(whole.saturating_sub(part.saturating_mul(split_size))));
    concat_gradients(grads, this, sizes, dim)
}

/// Concatenates the gradients of parts that have these lengths along a dimension.
fn concat_gradients(
    grads: &[Option<Tensor>],
    this: &TensorOutline,
    lengths: impl Iterator<Item = i64>,
    dim: i64,
) -> Result<Tensor> {
    let at = wrap_dim("dim", dim, this.rank())?;
    let mut sizes = Dims::from_slice(this.sizes());
    let mut parts = Vec::with_capacity(grads.len());
    for (grad, length) in grads.iter().zip(lengths) {
        sizes[at] = length;
        parts.push(gradient_or_zeros(grad.as_ref(), &sizes, this)?);
    }
    aten::cat(&parts, dim)
}

fn gradient_or_zeros(grad: Option<&Tensor>, sizes: &[i64], like: &TensorOutline) -> Result<Tensor> {
    grad.map_or_else(|| Tensor::zeros(sizes, (like.dtype(), like.device())), |grad| Ok(grad.clone()))
}

derivatives! {
    unbind_int(; grads: &[Option<Tensor>], this: &TensorOutline, dim: i64) => {
        let mut sizes = Dims::from_slice(this.sizes());
        sizes.remove(wrap_dim("dim", dim, this.rank())?);
        let parts = grads.iter().map(|grad| gradient_or_zeros(grad.as_ref(), &sizes, this)).collect::<Result<Vec<_>>>()?;
        aten::stack(&parts, dim)
    };
    split(; grads: &[Option<Tensor>], this: &TensorOutline, split_size: i64, dim: i64) => split_gradient(grads, this, split_size, dim);
    unsafe_split(; grads: &[Option<Tensor>], this: &TensorOutline, split_size: i64, dim: i64) =>
        split_gradient(grads, this, split_size, dim);
    split_with_sizes(; grads: &[Option<Tensor>], this: &TensorOutline, split_sizes: &[i64], dim: i64) =>
        concat_gradients(grads, this, split_sizes.iter().copied(), dim);
    unsafe_split_with_sizes(; grads: &[Option<Tensor>], this: &TensorOutline, split_sizes: &[i64], dim: i64) =>
        concat_gradients(grads, this, split_sizes.iter().copied(), dim);
}
