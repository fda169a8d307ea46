//! Cumulative sums, products, maxima and minima along a dimension.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Promotion, Spec, wrap_dim};

use super::min_max::values_and_indices_plan;
use crate::sum_dtype;

/// Computes the cumulative sums along a dimension.
#[op_def("cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", plan, inplace, out = "out")]
pub fn cumsum(_: ...) -> Result<Tensor>;

/// Computes the cumulative products along a dimension.
#[op_def("cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", plan, inplace, out = "out")]
pub fn cumprod(_: ...) -> Result<Tensor>;

/// Computes `log(cumsum(exp(self)))` along a dimension, without intermediate overflow.
#[op_def("logcumsumexp(Tensor self, int dim) -> Tensor", plan, out = "out")]
pub fn logcumsumexp(_: ...) -> Result<Tensor>;

/// Computes the cumulative maxima along a dimension, and their indices. Of equal elements, the last counts.
#[op_def("cummax(Tensor self, int dim) -> (Tensor values, Tensor indices)", plan, out = "out")]
pub fn cummax(_: ...) -> Result<(Tensor, Tensor)>;

/// Computes the cumulative minima along a dimension, and their indices. Of equal elements, the last counts.
#[op_def("cummin(Tensor self, int dim) -> (Tensor values, Tensor indices)", plan, out = "out")]
pub fn cummin(_: ...) -> Result<(Tensor, Tensor)>;

#[op_plan(cumsum)]
fn cumsum_plan(this: &Tensor, dim: i64, dtype: Option<DType>) -> Result<Plan<usize>, BadArgument> {
    scan_plan(this, dim, sum_dtype(this, dtype))
}

#[op_plan(cumprod)]
fn cumprod_plan(this: &Tensor, dim: i64, dtype: Option<DType>) -> Result<Plan<usize>, BadArgument> {
    scan_plan(this, dim, sum_dtype(this, dtype))
}

#[op_plan(logcumsumexp)]
fn logcumsumexp_plan(this: &Tensor, dim: i64) -> Result<Plan<usize>, BadArgument> {
    scan_plan(this, dim, Promotion::Float.result_dtype(&[this]))
}

/// Returns the plan of a scan. The plan's value is the dimension.
fn scan_plan(this: &Tensor, dim: i64, dtype: DType) -> Result<Plan<usize>, BadArgument> {
    let dim = wrap_dim("dim", dim, this.sizes().len())?;
    Ok(Plan::new(dim, [Spec::contiguous(dtype, this.sizes())]))
}

#[op_plan(cummax)]
fn cummax_plan(this: &Tensor, dim: i64) -> Result<Plan<usize, 2>, BadArgument> {
    cumulative_extreme_plan(this, dim)
}

#[op_plan(cummin)]
fn cummin_plan(this: &Tensor, dim: i64) -> Result<Plan<usize, 2>, BadArgument> {
    cumulative_extreme_plan(this, dim)
}

fn cumulative_extreme_plan(this: &Tensor, dim: i64) -> Result<Plan<usize, 2>, BadArgument> {
    let Plan { value, outputs: [values] } = scan_plan(this, dim, this.dtype())?;
    Ok(values_and_indices_plan(value, values))
}
