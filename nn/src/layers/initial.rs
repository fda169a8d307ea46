//! Parameters with their initial values.

use aten::prelude::*;
use dispatch_runtime::{Result, Tensor};

use crate::param::Param;

/// Returns a parameter that is uniform in `-bound..bound`.
pub(super) fn uniform(sizes: &[i64], bound: f64) -> Result<Param> {
    let tensor = Tensor::empty(sizes, ())?;
    tensor.uniform_(-bound..bound)?;
    Param::new(tensor)
}

/// Returns a parameter with a normal distribution.
pub(super) fn normal(sizes: &[i64], std: f64) -> Result<Param> {
    let tensor = Tensor::empty(sizes, ())?;
    tensor.normal_(0.0, std)?;
    Param::new(tensor)
}

/// Returns a parameter of zeros.
pub(super) fn zeros(sizes: &[i64]) -> Result<Param> {
    Param::new(Tensor::zeros(sizes, ())?)
}

/// Returns the bound of Glorot's uniform distribution of a matrix.
pub(super) fn xavier_bound(rows: i64, columns: i64) -> f64 {
    6.0_f64.sqrt() * inverse_sqrt(rows.saturating_add(columns))
}

/// Returns `1 / sqrt(count)`, or 0 if the count is not positive.
#[expect(clippy::cast_precision_loss, reason = "sizes of layers are small")]
pub(super) fn inverse_sqrt(count: i64) -> f64 {
    if count > 0 { (count as f64).sqrt().recip() } else { 0.0 }
}
