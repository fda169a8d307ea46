//! Gradient formulas of views: reshapes, permutations, `expand`, `as_strided`.

use aten::prelude::*;
use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, Geometry, wrap_dim};

use crate::graph::views::scatter_view_gradient;
use crate::{TensorOutline, not_differentiable};

// A view of another dtype reinterprets the bytes, which has no derivative.
not_differentiable!(aten::detach, aten::view_dtype);

macro_rules! reshape_derivatives {
    ($($operator:ident)*) => { derivatives! { $($operator(grad; this: &TensorOutline) => grad.reshape(this.sizes());)* } };
}

reshape_derivatives! {
    view _unsafe_view _reshape_alias
    squeeze squeeze_dim squeeze_dims unsqueeze
    squeeze_ squeeze__dim squeeze__dims unsqueeze_
}

fn as_strided_gradient(
    grad: &Tensor,
    this: &TensorOutline,
    size: &[i64],
    stride: &[i64],
    offset: Option<i64>,
) -> Result<Tensor> {
    let geometry = Geometry::strided(size, stride, offset.unwrap_or_else(|| this.geometry().offset()))
        .ok_or_else(|| BadArgument::length("stride", stride.len(), size.len()).like("size"))?;
    scatter_view_gradient(this, &this.with_geometry(geometry), grad)
}

derivatives! {
    // The engine sums the gradient over broadcast dimensions.
    alias(grad) => Ok(grad.clone());
    expand(grad) => Ok(grad.clone());
    lift_fresh(grad) => Ok(grad.clone());
    permute(grad; dims: &[i64]) => {
        let mut inverse = Dims::from_elem(0, dims.len());
        for (&dim, at) in dims.iter().zip(0..) {
            inverse[wrap_dim("dims", dim, dims.len())?] = at;
        }
        grad.permute(&inverse)
    };
    transpose_int(grad; dim0: i64, dim1: i64) => grad.transpose(dim0, dim1);
    transpose_(grad; dim0: i64, dim1: i64) => grad.transpose(dim0, dim1);
    t(grad) => grad.t();
    t_(grad) => grad.t();
    as_strided(grad; this: &TensorOutline, size: &[i64], stride: &[i64], storage_offset: Option<i64>) =>
        as_strided_gradient(grad, this, size, stride, storage_offset);
    as_strided_(grad; this: &TensorOutline, size: &[i64], stride: &[i64], storage_offset: Option<i64>) =>
        as_strided_gradient(grad, this, size, stride, storage_offset);
}
