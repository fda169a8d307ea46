//! What there is of distinct elements.

use dispatch_runtime::prelude::*;

/// The distinct elements in order, where each element is among them, and how many there are of each.
#[op_def(
    "_unique2(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False) -> (Tensor, Tensor, Tensor)",
    data_dependent,
    out = "out"
)]
pub fn _unique2(
    this: &Tensor,
    sorted: bool,
    return_inverse: bool,
    return_counts: bool,
) -> Result<(Tensor, Tensor, Tensor)>;

/// The distinct elements in order, and where each element is among them.
#[op_def("_unique(Tensor self, bool sorted=True, bool return_inverse=False) -> (Tensor, Tensor)", out = "out")]
pub fn _unique(this: &Tensor, sorted: bool, return_inverse: bool) -> Result<(Tensor, Tensor)> {
    let (values, inverse, _) = _unique2(this, sorted, return_inverse, false)?;
    Ok((values, inverse))
}

/// The distinct slices along a dimension in order, where each slice is among them, and how many there are of each.
#[op_def(
    "unique_dim(Tensor self, int dim, bool sorted=True, bool return_inverse=False, bool return_counts=False) -> (Tensor, Tensor, Tensor)",
    data_dependent,
    out = "out"
)]
pub fn unique_dim(
    this: &Tensor,
    dim: i64,
    sorted: bool,
    return_inverse: bool,
    return_counts: bool,
) -> Result<(Tensor, Tensor, Tensor)>;

/// The elements, or slices along a dimension, that differ from the one before, where each is among them, and how often it repeats.
#[op_def(
    "unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False, int? dim=None) -> (Tensor, Tensor, Tensor)",
    data_dependent,
    out = "out"
)]
pub fn unique_consecutive(
    this: &Tensor,
    return_inverse: bool,
    return_counts: bool,
    dim: Option<i64>,
) -> Result<(Tensor, Tensor, Tensor)>;

/// [`unique_consecutive`] of the slices along a dimension.
#[op_def(
    "unique_dim_consecutive(Tensor self, int dim, bool return_inverse=False, bool return_counts=False) -> (Tensor, Tensor, Tensor)",
    out = "out"
)]
pub fn unique_dim_consecutive(
    this: &Tensor,
    dim: i64,
    return_inverse: bool,
    return_counts: bool,
) -> Result<(Tensor, Tensor, Tensor)> {
    unique_consecutive(this, return_inverse, return_counts, Some(dim))
}
