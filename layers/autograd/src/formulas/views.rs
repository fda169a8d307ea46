//! Views: the same elements in another geometry.

use aten::prelude::*;
use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, Geometry, wrap_dim};

use crate::views::scattered;
use crate::{Outline, not_differentiable, op_grad};

// Elements of another dtype are other numbers.
not_differentiable!(aten::detach, aten::view_dtype);

macro_rules! same {
    ($($operator:ident)*) => {$(
        #[op_grad(aten::$operator)]
        fn $operator(grad: &Tensor) -> Tensor {
            grad.clone()
        }
    )*};
}

// What was broadcast is summed anyway.
same! { alias expand lift_fresh }

macro_rules! in_sizes_of_before {
    ($($operator:ident)*) => {$(
        #[op_grad(aten::$operator)]
        fn $operator(grad: &Tensor, this: &Outline) -> Result<Tensor> {
            grad.reshape(this.sizes())
        }
    )*};
}

in_sizes_of_before! {
    view _unsafe_view _reshape_alias
    squeeze squeeze_dim squeeze_dims unsqueeze
    squeeze_ squeeze__dim squeeze__dims unsqueeze_
}

#[op_grad(aten::permute)]
fn permute(grad: &Tensor, dims: &[i64]) -> Result<Tensor> {
    let mut back = Dims::from_elem(0, dims.len());
    for (&dim, at) in dims.iter().zip(0..) {
        back[wrap_dim("dims", dim, dims.len())?] = at;
    }
    grad.permute(&back)
}

#[op_grad(aten::transpose_int)]
fn transpose(grad: &Tensor, dim0: i64, dim1: i64) -> Result<Tensor> {
    grad.transpose_int(dim0, dim1)
}

#[op_grad(aten::transpose_)]
fn transpose_(grad: &Tensor, dim0: i64, dim1: i64) -> Result<Tensor> {
    grad.transpose_int(dim0, dim1)
}

#[op_grad(aten::t)]
fn t(grad: &Tensor) -> Result<Tensor> {
    grad.t()
}

#[op_grad(aten::t_)]
fn t_(grad: &Tensor) -> Result<Tensor> {
    grad.t()
}

#[op_grad(aten::as_strided)]
fn as_strided(
    grad: &Tensor,
    this: &Outline,
    size: &[i64],
    stride: &[i64],
    storage_offset: Option<i64>,
) -> Result<Tensor> {
    shown(grad, this, size, stride, storage_offset)
}

#[op_grad(aten::as_strided_)]
fn as_strided_(
    grad: &Tensor,
    this: &Outline,
    size: &[i64],
    stride: &[i64],
    storage_offset: Option<i64>,
) -> Result<Tensor> {
    shown(grad, this, size, stride, storage_offset)
}

fn shown(grad: &Tensor, this: &Outline, size: &[i64], stride: &[i64], offset: Option<i64>) -> Result<Tensor> {
    let geometry = Geometry::strided(size, stride, offset.unwrap_or_else(|| this.geometry().offset()))
        .ok_or_else(|| BadArgument::sizes("stride", stride, "one stride for each size"))?;
    scattered(this, &this.with(geometry), grad)
}
