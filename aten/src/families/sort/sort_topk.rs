//! Sorting, and selection by rank: `topk`, `kthvalue`, medians, modes.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Spec, wrap_dim};

use crate::{extreme_along_dim_plan, values_and_indices_plan};

/// Sorts the elements along a dimension. Also returns their former indices. Equal elements keep their order.
#[op_def(
    "sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)",
    plan,
    out = "values"
)]
pub fn sort(_: ...) -> Result<(Tensor, Tensor)>;

/// Sorts the elements along a dimension. Also returns their former indices. With `stable`, equal elements keep their order.
#[op_def(
    "sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)",
    plan,
    out = "values_stable"
)]
pub fn sort_stable(_: ...) -> Result<(Tensor, Tensor)>;

/// Returns the indices that sort the elements along a dimension.
#[op_def("argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor")]
pub fn argsort(this: &Tensor, dim: i64, descending: bool) -> Result<Tensor> {
    Ok(sort(this, dim, descending)?.1)
}

/// Returns the indices that sort the elements along a dimension. With `stable`, equal elements keep their order.
#[op_def(
    "argsort.stable(Tensor self, *, bool stable, int dim=-1, bool descending=False) -> Tensor",
    out = "stable_out"
)]
pub fn argsort_stable(this: &Tensor, stable: bool, dim: i64, descending: bool) -> Result<Tensor> {
    Ok(sort_stable(this, Some(stable), dim, descending)?.1)
}

/// Sorts the elements along the first dimension.
#[op_def("msort(Tensor self) -> Tensor", out = "out")]
pub fn msort(this: &Tensor) -> Result<Tensor> {
    Ok(sort(this, 0, false)?.0)
}

/// Returns the `k` largest or smallest elements along a dimension, and their indices.
#[op_def(
    "topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, Tensor indices)",
    plan,
    out = "values"
)]
pub fn topk(_: ...) -> Result<(Tensor, Tensor)>;

/// Returns the `k`-th smallest elements along a dimension, and their indices.
#[op_def(
    "kthvalue(Tensor self, SymInt k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",
    plan,
    out = "values"
)]
pub fn kthvalue(_: ...) -> Result<(Tensor, Tensor)>;

/// Returns the median of all elements. Of two middle elements, it is the smaller.
#[op_def("median(Tensor self) -> Tensor", plan, out = "out")]
pub fn median(_: ...) -> Result<Tensor>;

/// Returns the medians along a dimension, and their indices.
#[op_def(
    "median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
    plan,
    out = "dim_values"
)]
pub fn median_dim(_: ...) -> Result<(Tensor, Tensor)>;

/// Returns the median of the elements that are not NaN.
#[op_def("nanmedian(Tensor self) -> Tensor", plan, out = "out")]
pub fn nanmedian(_: ...) -> Result<Tensor>;

/// Returns the medians along a dimension of the elements that are not NaN, and their indices.
#[op_def(
    "nanmedian.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
    plan,
    out = "dim_values"
)]
pub fn nanmedian_dim(_: ...) -> Result<(Tensor, Tensor)>;

/// Returns the most frequent elements along a dimension, and their indices. Of equally frequent elements, the smallest counts.
#[op_def("mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)", plan, out = "values")]
pub fn mode(_: ...) -> Result<(Tensor, Tensor)>;

#[op_plan(sort)]
fn sort_plan(this: &Tensor, dim: i64) -> Result<Plan<usize, 2>, BadArgument> {
    let dim = wrap_dim("dim", dim, this.sizes().len())?;
    Ok(values_and_indices_plan(dim, Spec::like(this, this.dtype())))
}

#[op_plan(sort_stable)]
fn sort_stable_plan(this: &Tensor, dim: i64) -> Result<Plan<usize, 2>, BadArgument> {
    sort_plan(this, dim)
}

#[op_plan(topk)]
fn topk_plan(this: &Tensor, k: i64, dim: i64) -> Result<Plan<usize, 2>, BadArgument> {
    let (dim, length) = dim_and_size(this, dim)?;
    if !(0..=length).contains(&k) {
        return Err(BadArgument::number("k", k, 0..=length).because("the dimension has this size"));
    }
    let mut sizes = this.sizes().to_vec();
    if let Some(size) = sizes.get_mut(dim) {
        *size = k;
    }
    Ok(values_and_indices_plan(dim, Spec::contiguous(this.dtype(), &sizes)))
}

#[op_plan(kthvalue)]
fn kthvalue_plan(this: &Tensor, k: i64, dim: i64, keepdim: bool) -> Result<Plan<usize, 2>, BadArgument> {
    let (_, length) = dim_and_size(this, dim)?;
    if !(1..=length).contains(&k) {
        return Err(BadArgument::number("k", k, 1..=length).because("the dimension has this size"));
    }
    one_element_per_slice_plan(this, dim, keepdim)
}

/// Returns the dimension's index and size. A tensor without dimensions counts as one element.
fn dim_and_size(this: &Tensor, dim: i64) -> Result<(usize, i64), BadArgument> {
    let dim = wrap_dim("dim", dim, this.sizes().len())?;
    Ok((dim, this.sizes().get(dim).copied().unwrap_or(1)))
}

/// Plans the selection of one element of each slice along a dimension, and its index. The plan's value is the dimension.
fn one_element_per_slice_plan(this: &Tensor, dim: i64, keepdim: bool) -> Result<Plan<usize, 2>, BadArgument> {
    let Plan { outputs, .. } = extreme_along_dim_plan(this, dim, keepdim)?;
    Ok(Plan::new(wrap_dim("dim", dim, this.sizes().len())?, outputs))
}

#[op_plan(median)]
fn median_plan(this: &Tensor) -> Result<Plan<()>, BadArgument> {
    Ok(Plan::new((), [Spec::contiguous(this.dtype(), &[])]))
}

#[op_plan(nanmedian)]
fn nanmedian_plan(this: &Tensor) -> Result<Plan<()>, BadArgument> {
    median_plan(this)
}

#[op_plan(median_dim)]
fn median_dim_plan(this: &Tensor, dim: i64, keepdim: bool) -> Result<Plan<usize, 2>, BadArgument> {
    one_element_per_slice_plan(this, dim, keepdim)
}

#[op_plan(nanmedian_dim)]
fn nanmedian_dim_plan(this: &Tensor, dim: i64, keepdim: bool) -> Result<Plan<usize, 2>, BadArgument> {
    one_element_per_slice_plan(this, dim, keepdim)
}

#[op_plan(mode)]
fn mode_plan(this: &Tensor, dim: i64, keepdim: bool) -> Result<Plan<usize, 2>, BadArgument> {
    one_element_per_slice_plan(this, dim, keepdim)
}
