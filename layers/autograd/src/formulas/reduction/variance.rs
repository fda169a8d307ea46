//! Gradient formulas of variances and standard deviations.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use super::sums::{count, of_mean, restored, sum_of};
use crate::op_grad;

/// The arguments of a variance: its input, dimensions, correction and `keepdim`.
struct Deviations<'a> {
    this: &'a Tensor,
    dims: &'a [i64],
    correction: Option<Scalar>,
    keepdim: bool,
}

impl Deviations<'_> {
    fn restored(&self, of: &Tensor) -> Result<Tensor> {
        restored(of, self.this.sizes(), self.dims, self.keepdim)
    }

    fn of_variance(&self, grad: &Tensor) -> Result<Tensor> {
        let correction = self.correction.and_then(Scalar::to_f64).unwrap_or(1.0);
        #[expect(clippy::cast_precision_loss, reason = "a mean is rounded")]
        let freedom = (count(self.this.sizes(), self.dims)? as f64 - correction).max(0.0);
        let deviation = (self.this - self.this.mean_dim(Some(self.dims), true)?)?;
        (self.restored(grad)? * (2.0 / freedom))? * deviation
    }

    /// Returns the gradient of a standard deviation, zero if the deviation is zero.
    fn of_deviation(&self, grad: &Tensor, deviation: &Tensor) -> Result<Tensor> {
        let grad = (grad / (deviation * 2)?)?.masked_fill_scalar(&deviation.eq_scalar(0)?, 0)?;
        self.of_variance(&grad)
    }

    fn of_mean(&self, grad: &Tensor) -> Result<Tensor> {
        of_mean(grad, self.this.sizes(), self.dims, self.keepdim)
    }
}

derivatives! {
    var_correction(grad, this; dim: Option<&[i64]>, correction: Option<Scalar>, keepdim: bool) =>
        Deviations { this, dims: dim.unwrap_or_default(), correction, keepdim }.of_variance(grad);
    std_correction(grad, this; dim: Option<&[i64]>, correction: Option<Scalar>, keepdim: bool, result: &Tensor) =>
        Deviations { this, dims: dim.unwrap_or_default(), correction, keepdim }.of_deviation(grad, result);
}

#[op_grad(aten::var_mean_correction)]
fn var_mean(grad0: Option<&Tensor>, grad1: Option<&Tensor>, _: ...) -> Result<Option<Tensor>> {
    let all = Deviations { this, dims: dim.unwrap_or_default(), correction, keepdim };
    let of_variance = grad0.map(|grad| all.of_variance(grad)).transpose()?;
    sum_of(of_variance, grad1.map(|grad| all.of_mean(grad)).transpose()?)
}

#[op_grad(aten::std_mean_correction)]
fn std_mean(grad0: Option<&Tensor>, grad1: Option<&Tensor>, result0: &Tensor, _: ...) -> Result<Option<Tensor>> {
    let all = Deviations { this, dims: dim.unwrap_or_default(), correction, keepdim };
    let of_deviation = grad0.map(|grad| all.of_deviation(grad, result0)).transpose()?;
    sum_of(of_deviation, grad1.map(|grad| all.of_mean(grad)).transpose()?)
}
