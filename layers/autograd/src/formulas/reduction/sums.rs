//! Gradient formulas of sums, means and products along dimensions.

use aten::prelude::*;
use dispatch_runtime::prelude::*;
use dispatch_runtime::{Dims, wrap_dim};

use crate::complex::conj;
use crate::{TensorOutline, not_differentiable};

/// Returns the dimensions that a reduction removes, counted from the front. An empty list reduces all.
fn reduced_dims(sizes: &[i64], dims: &[i64]) -> Result<Vec<usize>> {
    let rank = sizes.len();
    if dims.is_empty() {
        return Ok((0..rank).collect());
    }
    let wrapped = dims.iter().filter(|_| rank > 0).map(|&dim| Ok(wrap_dim("dim", dim, rank)?));
    wrapped.collect()
}

/// Reshapes the result of a reduction so that each removed dimension has size one again.
pub(crate) fn restore_dims(reduced_to: &Tensor, sizes: &[i64], dims: &[i64], keepdim: bool) -> Result<Tensor> {
    if keepdim || sizes.is_empty() {
        return Ok(reduced_to.clone());
    }
    let mut sizes = Dims::from_slice(sizes);
    for dim in reduced_dims(&sizes, dims)? {
        sizes[dim] = 1;
    }
    reduced_to.reshape(&sizes)
}

/// Returns the number of elements in each reduced sum.
pub(crate) fn reduced_count(sizes: &[i64], dims: &[i64]) -> Result<i64> {
    let reduced: Dims = reduced_dims(sizes, dims)?.into_iter().map(|dim| sizes[dim]).collect();
    Ok(dispatch_runtime::element_count(&reduced))
}

pub(crate) fn mean_gradient(grad: &Tensor, sizes: &[i64], dims: &[i64], keepdim: bool) -> Result<Tensor> {
    (restore_dims(grad, sizes, dims, keepdim)? / reduced_count(sizes, dims)?)?.expand(sizes)
}

/// Returns, for each element, the product of all others along the dimension: of those before it times those after it. It divides by no
/// element, so zeros are allowed.
fn products_of_others(this: &Tensor, dim: i64) -> Result<Tensor> {
    let length = if this.sizes().is_empty() { 1 } else { this.sizes()[wrap_dim("dim", dim, this.sizes().len())?] };
    if length <= 1 {
        return this.ones_like();
    }
    let before = |line: &Tensor| {
        let first = line.narrow(dim, 0, 1)?.ones_like()?;
        aten::cat(&[first, line.narrow(dim, 0, length - 1)?], dim)?.cumprod(dim)
    };
    conj(&(before(this)? * before(&this.flip(dim)?)?.flip(dim)?)?)
}

derivatives! {
    sum(grad; this: &TensorOutline) => grad.expand(this.sizes());
    sum_dim_intlist(grad; this: &TensorOutline, dim: Option<&[i64]>, keepdim: bool) =>
        restore_dims(grad, this.sizes(), dim.unwrap_or_default(), keepdim)?.expand(this.sizes());
    nansum(grad, this; dim: Option<&[i64]>, keepdim: bool) =>
        restore_dims(grad, this.sizes(), dim.unwrap_or_default(), keepdim)? * this.isnan()?.logical_not()?;
    mean(grad; this: &TensorOutline) => (grad / this.element_count())?.expand(this.sizes());
    mean_dim(grad; this: &TensorOutline, dim: Option<&[i64]>, keepdim: bool) =>
        mean_gradient(grad, this.sizes(), dim.unwrap_or_default(), keepdim);
    prod(grad, this) => {
        let flat = this.reshape(-1)?;
        (grad * products_of_others(&flat, 0)?)?.reshape(this.sizes())
    };
    prod_dim_int(grad, this; dim: i64, keepdim: bool) =>
        restore_dims(grad, this.sizes(), &[dim], keepdim)? * products_of_others(this, dim)?;
    logsumexp(grad, this; dim: &[i64], keepdim: bool, result: &Tensor) => {
        let share = (this - restore_dims(result, this.sizes(), dim, keepdim)?)?.exp()?;
        restore_dims(grad, this.sizes(), dim, keepdim)? * conj(&share)?
    };
}

/// Returns the sum of two gradients, or the only one that is present.
pub(crate) fn sum_optional_gradients(first: Option<Tensor>, second: Option<Tensor>) -> Result<Option<Tensor>> {
    match (first, second) {
        (Some(first), Some(second)) => (first + second).map(Some),
        (one, other) => Ok(one.or(other)),
    }
}

not_differentiable!(
    aten::any,
    aten::any_dim,
    aten::any_dims,
    aten::all,
    aten::all_dim,
    aten::all_dims,
    aten::count_nonzero,
    aten::count_nonzero_dim_intlist
);
