//! Gradient formulas of scatter operators.

use aten::prelude::*;
use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Geometry};

use super::scatter_reduce::{ElementIndex, ScatterReduction};
use crate::{TensorOutline, op_grad};

derivatives! {
    scatter_src(grad; dim: i64, index: &Tensor, src: &TensorOutline), not_differentiable(index) =>
        grad.scatter(dim, index, 0), scattered_source_gradient(grad, dim, index, src);
    scatter_value(grad; dim: i64, index: &Tensor), not_differentiable(index) => grad.scatter(dim, index, 0);
    scatter_add(grad; dim: i64, index: &Tensor, src: &TensorOutline), not_differentiable(index) =>
        Ok(grad.clone()), scattered_source_gradient(grad, dim, index, src);
    scatter_value_reduce(grad; result: &Tensor, _: ...), not_differentiable(index) => {
        let reduction = ScatterReduction { index: ElementIndex { dim, index }, name: scatter_reduce_name(reduce)?, include_self: true };
        let src = Tensor::full(index.sizes(), value, (this.dtype(), this.device()))?;
        Ok(reduction.gradients(grad, this, &src, result)?.0)
    };
    select_scatter(grad; dim: i64, index: i64) =>
        grad.select_scatter(&grad.select(dim, index)?.zeros_like()?, dim, index), grad.select(dim, index);
    slice_scatter(grad; dim: i64, start: Option<i64>, end: Option<i64>, step: i64) =>
        {
            let part = aten::slice(grad, dim, start, end, step)?;
            aten::slice_scatter(grad, &part.zeros_like()?, dim, start, end, step)
        },
        aten::slice(grad, dim, start, end, step);
    diagonal_scatter(grad; offset: i64, dim1: i64, dim2: i64) =>
        aten::diagonal_scatter(grad, &aten::diagonal(grad, offset, dim1, dim2)?.zeros_like()?, offset, dim1, dim2),
        aten::diagonal(grad, offset, dim1, dim2);
}

#[op_grad(aten::scatter_reduce_two, not_differentiable(index))]
fn scatter_reduce_two(grad: &Tensor, result: &Tensor, _: ...) -> Result<(Tensor, Tensor)> {
    let reduction = ScatterReduction { index: ElementIndex { dim, index }, name: reduce, include_self };
    reduction.gradients(grad, this, src, result)
}

#[op_grad(aten::scatter_reduce, not_differentiable(index))]
fn scatter_reduce(grad: &Tensor, result: &Tensor, _: ...) -> Result<(Tensor, Tensor)> {
    let reduction =
        ScatterReduction { index: ElementIndex { dim, index }, name: scatter_reduce_name(reduce)?, include_self: true };
    reduction.gradients(grad, this, src, result)
}

/// Returns the name that `scatter_reduce` uses for a reduction of `scatter`.
fn scatter_reduce_name(reduce: &str) -> Result<&'static str> {
    match reduce {
        "add" => Ok("sum"),
        "multiply" => Ok("prod"),
        other => Err(BadArgument::keyword("reduce", other, &["add", "multiply"]).into()),
    }
}

/// Returns the gradient of a scattered source, padded with zeros where the source is larger than the index.
fn scattered_source_gradient(grad: &Tensor, dim: i64, index: &Tensor, src: &TensorOutline) -> Result<Tensor> {
    let grad = grad.gather(dim, index)?;
    let padding = src.sizes().iter().zip(index.sizes()).rev().flat_map(|(size, taken)| [0, size - taken]);
    let padding: Vec<i64> = padding.collect();
    if padding.iter().all(|&size| size == 0) { Ok(grad) } else { aten::constant_pad_nd(&grad, &padding, 0.into()) }
}

#[op_grad(aten::as_strided_scatter)]
fn as_strided_scatter(grad: &Tensor, this: &TensorOutline, _: ...) -> Result<(Tensor, Tensor)> {
    let offset = storage_offset.unwrap_or_else(|| this.geometry().offset());
    let geometry = Geometry::strided(size, stride, offset)
        .ok_or_else(|| BadArgument::length("stride", stride.len(), size.len()).like("size"))?;
    let mut whole = this.zeros_with_geometry(grad)?;
    aten::copy_(&mut whole, grad, false)?;
    let src_outline = this.with_geometry(geometry);
    let of_src = aten::clone(&this.extract_view(&whole, &src_outline)?, None)?;
    // As in PyTorch, `self` receives the gradient of the overwritten elements and zero for all others.
    let of_self = this.zeros_with_geometry(grad)?;
    aten::copy_(&mut this.extract_view(&of_self, &src_outline)?, &of_src, false)?;
    Ok((of_self, of_src))
}
