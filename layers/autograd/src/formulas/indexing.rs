//! Elements at positions.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use crate::{Gradient, Outline, not_differentiable, op_grad};

not_differentiable!(aten::nonzero, aten::nonzero_static, aten::one_hot);

#[op_grad(aten::embedding, not_differentiable(indices))]
fn embedding(
    grad: &Tensor,
    weight: &Outline,
    indices: &Tensor,
    padding_idx: i64,
    scale_grad_by_freq: bool,
    sparse: bool,
) -> Result<Tensor> {
    aten::embedding_backward(grad, indices, weight.sizes()[0], padding_idx, scale_grad_by_freq, sparse)
}

#[op_grad(aten::embedding_dense_backward, not_differentiable(indices))]
fn embedding_dense_backward(
    grad: &Tensor,
    indices: &Tensor,
    num_weights: i64,
    padding_idx: i64,
    scale_grad_by_freq: bool,
) -> Result<Tensor> {
    let positions = indices.reshape(&[-1])?;
    let mut rows = grad.index_select(0, &positions)?;
    if padding_idx >= 0 {
        rows = rows.masked_fill_scalar(&positions.eq_scalar(padding_idx)?.unsqueeze(-1)?, 0)?;
    }
    if scale_grad_by_freq {
        let one = Tensor::ones(&[], (grad.dtype(), grad.device()))?.expand(positions.sizes())?;
        let often = nothing(&[num_weights], grad)?.index_add(0, &positions, &one)?;
        rows = (rows / often.index_select(0, &positions)?.unsqueeze(-1)?)?;
    }
    let sizes: Vec<i64> = indices.sizes().iter().copied().chain([grad.sizes()[1]]).collect();
    rows.reshape(&sizes)
}

#[op_grad(aten::index_select, not_differentiable(index))]
fn index_select(grad: &Tensor, this: &Outline, dim: i64, index: &Tensor) -> Result<Tensor> {
    aten::index_select_backward(grad, this.sizes(), dim, index)
}

#[op_grad(aten::gather, not_differentiable(index))]
fn gather(grad: &Tensor, this: &Outline, dim: i64, index: &Tensor) -> Result<Tensor> {
    // It takes small positions too.
    nothing(this.sizes(), grad)?.scatter_add(dim, &index.to(DType::I64)?, grad)
}

#[op_grad(aten::take, not_differentiable(index))]
fn take(grad: &Tensor, this: &Outline, index: &Tensor) -> Result<Tensor> {
    aten::put(&nothing(this.sizes(), grad)?, index, grad, true)
}

#[op_grad(aten::put, not_differentiable(index))]
fn put(grad: &Tensor, index: &Tensor, source: &Outline, accumulate: bool) -> (impl Gradient, impl Gradient) {
    let before = move || {
        if accumulate { Ok(grad.clone()) } else { aten::put(grad, index, &nothing(index.sizes(), grad)?, false) }
    };
    (before, move || grad.take(index)?.reshape(source.sizes()))
}

#[op_grad(aten::index, not_differentiable(indices))]
fn index(grad: &Tensor, this: &Outline, indices: &[Option<Tensor>]) -> Result<Tensor> {
    aten::index_put(&nothing(this.sizes(), grad)?, indices, grad, true)
}

#[op_grad(aten::index_put, not_differentiable(indices))]
fn index_put(grad: &Tensor, indices: &[Option<Tensor>], accumulate: bool) -> (impl Gradient, impl Gradient) {
    let before = move || {
        if accumulate { Ok(grad.clone()) } else { aten::index_put(grad, indices, &nothing(&[], grad)?, false) }
    };
    (before, move || aten::index(grad, indices))
}

#[op_grad(aten::index_fill_int_scalar, not_differentiable(index))]
fn index_fill_scalar(grad: &Tensor, dim: i64, index: &Tensor) -> Result<Tensor> {
    grad.index_fill_int_scalar(dim, index, 0)
}

#[op_grad(aten::index_fill_int_tensor, not_differentiable(index))]
fn index_fill(grad: &Tensor, dim: i64, index: &Tensor) -> (impl Gradient, impl Gradient) {
    // A position that is listed twice is filled once.
    let filled = move || {
        let elsewhere = grad.ones_like()?.index_fill_int_scalar(dim, index, 0)?.to(DType::Bool)?;
        grad.masked_fill_scalar(&elsewhere, 0)?.sum()
    };
    (move || grad.index_fill_int_scalar(dim, index, 0), filled)
}

#[op_grad(aten::index_copy, not_differentiable(index))]
fn index_copy(grad: &Tensor, dim: i64, index: &Tensor, source: &Outline) -> (impl Gradient, impl Gradient) {
    (move || grad.index_fill_int_scalar(dim, index, 0), move || of_source(grad, dim, index, source))
}

#[op_grad(aten::index_add, not_differentiable(index))]
fn index_add(
    grad: &Tensor,
    dim: i64,
    index: &Tensor,
    source: &Outline,
    alpha: Scalar,
) -> (impl Gradient, impl Gradient) {
    (grad.clone(), move || of_source(grad, dim, index, source)? * alpha)
}

/// What was taken from a source, which may have had no dimension, and broadcasts.
fn of_source(grad: &Tensor, dim: i64, index: &Tensor, source: &Outline) -> Result<Tensor> {
    if source.rank() == 0 {
        return grad.index_select(dim, &index.reshape(&[-1])?)?.reshape(&[]);
    }
    grad.index_select(dim, index)?.expand(source.sizes())
}

#[op_grad(aten::masked_select, not_differentiable(mask))]
fn masked_select(grad: &Tensor, this: &Outline, mask: &Tensor) -> Result<Tensor> {
    aten::masked_select_backward(grad, &this.stand_in()?, mask)
}

#[op_grad(aten::masked_scatter, not_differentiable(mask))]
fn masked_scatter(grad: &Tensor, mask: &Tensor, source: &Outline) -> (impl Gradient, impl Gradient) {
    let taken = move || {
        let taken = grad.masked_select(mask)?;
        let left = source.count() - taken.geometry().count();
        aten::constant_pad_nd(&taken, &[0, left], 0.into())?.reshape(source.sizes())
    };
    (move || grad.masked_fill_scalar(mask, 0), taken)
}

fn nothing(sizes: &[i64], like: &Tensor) -> Result<Tensor> {
    Tensor::zeros(sizes, (like.dtype(), like.device()))
}
