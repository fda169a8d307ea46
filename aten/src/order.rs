//! Elements in order, and single ones of an order.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Spec, wrap_dim};

use crate::reduction::selected_meta;

/// The elements along a dimension in order, and where they were. Equal elements stay in their order.
#[op_def("sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)", out = "values")]
pub fn sort(this: &Tensor, dim: i64, descending: bool) -> Result<(Tensor, Tensor)>;

/// The elements along a dimension in order, and where they were.
#[op_def(
    "sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)",
    out = "values_stable"
)]
pub fn sort_stable(this: &Tensor, stable: Option<bool>, dim: i64, descending: bool) -> Result<(Tensor, Tensor)>;

/// Where the elements along a dimension were before they were put in order.
#[op_def("argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor")]
pub fn argsort(this: &Tensor, dim: i64, descending: bool) -> Result<Tensor> {
    Ok(sort(this, dim, descending)?.1)
}

/// The same, where equal elements may have to stay in their order.
#[op_def(
    "argsort.stable(Tensor self, *, bool stable, int dim=-1, bool descending=False) -> Tensor",
    out = "stable_out"
)]
pub fn argsort_stable(this: &Tensor, stable: bool, dim: i64, descending: bool) -> Result<Tensor> {
    Ok(sort_stable(this, Some(stable), dim, descending)?.1)
}

/// The elements along the first dimension in order.
#[op_def("msort(Tensor self) -> Tensor", out = "out")]
pub fn msort(this: &Tensor) -> Result<Tensor> {
    Ok(sort(this, 0, false)?.0)
}

/// The `k` largest or smallest elements along a dimension, and where they are.
#[op_def(
    "topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, Tensor indices)",
    out = "values"
)]
pub fn topk(this: &Tensor, k: i64, dim: i64, largest: bool, sorted: bool) -> Result<(Tensor, Tensor)>;

/// The `k`-th smallest elements along a dimension, and where they are.
#[op_def(
    "kthvalue(Tensor self, SymInt k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",
    out = "values"
)]
pub fn kthvalue(this: &Tensor, k: i64, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)>;

/// The element that half of the others do not exceed; of two, the smaller.
#[op_def("median(Tensor self) -> Tensor", out = "out")]
pub fn median(this: &Tensor) -> Result<Tensor>;

/// The medians along a dimension, and where they are.
#[op_def("median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", out = "dim_values")]
pub fn median_dim(this: &Tensor, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)>;

/// The median of what is a number.
#[op_def("nanmedian(Tensor self) -> Tensor", out = "out")]
pub fn nanmedian(this: &Tensor) -> Result<Tensor>;

/// The medians along a dimension of what is a number, and where they are.
#[op_def(
    "nanmedian.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
    out = "dim_values"
)]
pub fn nanmedian_dim(this: &Tensor, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)>;

/// The elements that are most frequent along a dimension, the smallest of several, and where they are.
#[op_def("mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)", out = "values")]
pub fn mode(this: &Tensor, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)>;

#[op_meta(sort)]
fn sort_meta(this: &Tensor, dim: i64, _: bool) -> Result<(Tensor, Tensor)> {
    sort_meta_of(this, dim)
}

#[op_meta(sort_stable)]
fn sort_stable_meta(this: &Tensor, _: Option<bool>, dim: i64, _: bool) -> Result<(Tensor, Tensor)> {
    sort_meta_of(this, dim)
}

fn sort_meta_of(this: &Tensor, dim: i64) -> Result<(Tensor, Tensor)> {
    let spec = sort_spec(this, dim)?;
    Ok((spec.clone().on(Device::META)?, Spec { dtype: DType::I64, ..spec }.on(Device::META)?))
}

/// What sorted elements look like: they lie in memory as the unsorted do.
///
/// # Errors
///
/// Where the dimension is not there.
pub fn sort_spec(this: &Tensor, dim: i64) -> Result<Spec, BadArgument> {
    wrap_dim("dim", dim, this.sizes().len())?;
    Ok(Spec::pointwise(&[this], this.dtype())?)
}

#[op_meta(topk)]
fn topk_meta(this: &Tensor, k: i64, dim: i64, _: bool, _: bool) -> Result<(Tensor, Tensor)> {
    let spec = topk_spec(this, k, dim)?;
    Ok((spec.clone().on(Device::META)?, Spec { dtype: DType::I64, ..spec }.on(Device::META)?))
}

#[op_meta(kthvalue)]
fn kthvalue_meta(this: &Tensor, k: i64, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)> {
    kth_check(this, k, dim)?;
    selected_meta(this, dim, keepdim)
}

#[op_meta(median)]
fn median_meta(this: &Tensor) -> Result<Tensor> {
    Spec::contiguous(this.dtype(), &[]).on(Device::META)
}

#[op_meta(nanmedian)]
fn nanmedian_meta(this: &Tensor) -> Result<Tensor> {
    Spec::contiguous(this.dtype(), &[]).on(Device::META)
}

#[op_meta(median_dim)]
fn median_dim_meta(this: &Tensor, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)> {
    selected_meta(this, dim, keepdim)
}

#[op_meta(nanmedian_dim)]
fn nanmedian_dim_meta(this: &Tensor, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)> {
    selected_meta(this, dim, keepdim)
}

#[op_meta(mode)]
fn mode_meta(this: &Tensor, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)> {
    selected_meta(this, dim, keepdim)
}

/// How many elements there are along a dimension; a number counts as one.
fn length(this: &Tensor, dim: i64) -> Result<(usize, i64), BadArgument> {
    let dim = wrap_dim("dim", dim, this.sizes().len())?;
    Ok((dim, this.sizes().get(dim).copied().unwrap_or(1)))
}

/// What the `k` first elements of an order look like.
///
/// # Errors
///
/// Where the dimension is not there, or has fewer elements than `k`.
pub fn topk_spec(this: &Tensor, k: i64, dim: i64) -> Result<Spec, BadArgument> {
    let (dim, length) = length(this, dim)?;
    if !(0..=length).contains(&k) {
        return Err(BadArgument::value("k", k, format!("0 to {length}, as there are elements along the dimension")));
    }
    let mut sizes = this.sizes().to_vec();
    if let Some(size) = sizes.get_mut(dim) {
        *size = k;
    }
    Ok(Spec::contiguous(this.dtype(), &sizes))
}

/// Whether there is a `k`-th element along a dimension.
///
/// # Errors
///
/// Where there is none.
pub fn kth_check(this: &Tensor, k: i64, dim: i64) -> Result<(), BadArgument> {
    let (_, length) = length(this, dim)?;
    if (1..=length).contains(&k) {
        Ok(())
    } else {
        Err(BadArgument::value("k", k, format!("1 to {length}, as there are elements along the dimension")))
    }
}
