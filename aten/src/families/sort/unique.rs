//! Distinct elements and slices.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, wrap_dim};

/// Returns the distinct elements in ascending order, the index of each element among them, and the count of each.
#[op_def(
    "_unique2(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False) -> (Tensor, Tensor, Tensor)",
    data_dependent,
    plan,
    out = "out"
)]
pub fn _unique2(_: ...) -> Result<(Tensor, Tensor, Tensor)>;

/// The plan of an operator that finds equal elements, or equal slices.
pub struct UniquePlan {
    /// The dimension of the slices, or `None` for elements.
    pub dim: Option<usize>,
}

#[op_plan(_unique2)]
fn unique2_plan(this: &Tensor) -> Result<Plan<UniquePlan, 0>, BadArgument> {
    shared_unique_plan(this, None)
}

/// Returns the distinct elements in ascending order, and the index of each element among them.
#[op_def("_unique(Tensor self, bool sorted=True, bool return_inverse=False) -> (Tensor, Tensor)", out = "out")]
pub fn _unique(this: &Tensor, sorted: bool, return_inverse: bool) -> Result<(Tensor, Tensor)> {
    let (values, inverse, _) = _unique2(this, sorted, return_inverse, false)?;
    Ok((values, inverse))
}

/// Returns the distinct slices along a dimension in order, the index of each slice among them, and the count of each.
#[op_def(
    "unique_dim(Tensor self, int dim, bool sorted=True, bool return_inverse=False, bool return_counts=False) -> (Tensor, Tensor, Tensor)",
    data_dependent,
    plan,
    out = "out"
)]
pub fn unique_dim(_: ...) -> Result<(Tensor, Tensor, Tensor)>;

#[op_plan(unique_dim)]
fn unique_dim_plan(this: &Tensor, dim: i64) -> Result<Plan<UniquePlan, 0>, BadArgument> {
    shared_unique_plan(this, Some(dim))
}

/// Removes elements, or slices along a dimension, that equal the one before.
///
/// Also returns the index of each in the result, and the length of each run.
#[op_def(
    "unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False, int? dim=None) -> (Tensor, Tensor, Tensor)",
    data_dependent,
    plan,
    out = "out"
)]
pub fn unique_consecutive(_: ...) -> Result<(Tensor, Tensor, Tensor)>;

#[op_plan(unique_consecutive)]
fn unique_consecutive_plan(this: &Tensor, dim: Option<i64>) -> Result<Plan<UniquePlan, 0>, BadArgument> {
    shared_unique_plan(this, dim)
}

/// Returns the plan of an operator that finds equal slices along a dimension, or equal elements.
fn shared_unique_plan(this: &Tensor, dim: Option<i64>) -> Result<Plan<UniquePlan, 0>, BadArgument> {
    let at = wrap_dim("dim", dim.unwrap_or(0), this.sizes().len())?;
    let size = this.sizes().get(at).filter(|_| dim.is_some());
    if this.geometry().count() == 0 && size.is_some_and(|&size| size > 0) {
        return Err(BadArgument::sizes("self", this.sizes(), "no slice without elements"));
    }
    Ok(Plan::without_outputs(UniquePlan { dim: size.map(|_| at) }))
}

/// Computes [`unique_consecutive`] of the slices along a dimension.
#[op_def(
    "unique_dim_consecutive(Tensor self, int dim, bool return_inverse=False, bool return_counts=False) -> (Tensor, Tensor, Tensor)",
    out = "out"
)]
pub fn unique_dim_consecutive(_: ...) -> Result<(Tensor, Tensor, Tensor)> {
    unique_consecutive(this, return_inverse, return_counts, Some(dim))
}
