//! Gradient formulas of variances and standard deviations.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use super::sums::{mean_gradient, reduced_count, restore_dims, sum_optional_gradients};
use crate::op_grad;

/// The arguments of a variance: its input, dimensions, correction and `keepdim`.
struct VarianceArguments<'a> {
    this: &'a Tensor,
    dims: &'a [i64],
    correction: Option<Scalar>,
    keepdim: bool,
}

impl VarianceArguments<'_> {
    fn restore_dims(&self, of: &Tensor) -> Result<Tensor> {
        restore_dims(of, self.this.sizes(), self.dims, self.keepdim)
    }

    fn variance_gradient(&self, grad: &Tensor) -> Result<Tensor> {
        let correction = self.correction.and_then(Scalar::to_f64).unwrap_or(1.0);
        #[expect(clippy::cast_precision_loss, reason = "a mean is rounded")]
        let freedom = (reduced_count(self.this.sizes(), self.dims)? as f64 - correction).max(0.0);
        let deviation = (self.this - self.this.mean_keepdim(self.dims)?)?;
        (self.restore_dims(grad)? * (2.0 / freedom))? * deviation
    }

    /// Returns the gradient of a standard deviation, zero if the deviation is zero.
    fn std_gradient(&self, grad: &Tensor, deviation: &Tensor) -> Result<Tensor> {
        let grad = (grad / (deviation * 2)?)?.masked_fill(&deviation.eq(0)?, 0)?;
        self.variance_gradient(&grad)
    }

    fn mean_gradient(&self, grad: &Tensor) -> Result<Tensor> {
        mean_gradient(grad, self.this.sizes(), self.dims, self.keepdim)
    }
}

derivatives! {
    var_correction(grad, this; dim: Option<&[i64]>, correction: Option<Scalar>, keepdim: bool) =>
        VarianceArguments { this, dims: dim.unwrap_or_default(), correction, keepdim }.variance_gradient(grad);
    std_correction(grad, this; dim: Option<&[i64]>, correction: Option<Scalar>, keepdim: bool, result: &Tensor) =>
        VarianceArguments { this, dims: dim.unwrap_or_default(), correction, keepdim }.std_gradient(grad, result);
}

#[op_grad(aten::var_mean_correction)]
fn var_mean_correction(grad0: Option<&Tensor>, grad1: Option<&Tensor>, _: ...) -> Result<Option<Tensor>> {
    let all = VarianceArguments { this, dims: dim.unwrap_or_default(), correction, keepdim };
    let variance_gradient = grad0.map(|grad| all.variance_gradient(grad)).transpose()?;
    sum_optional_gradients(variance_gradient, grad1.map(|grad| all.mean_gradient(grad)).transpose()?)
}

#[op_grad(aten::std_mean_correction)]
fn std_mean_correction(
    grad0: Option<&Tensor>,
    grad1: Option<&Tensor>,
    result0: &Tensor,
    _: ...
) -> Result<Option<Tensor>> {
    let all = VarianceArguments { this, dims: dim.unwrap_or_default(), correction, keepdim };
    let std_gradient = grad0.map(|grad| all.std_gradient(grad, result0)).transpose()?;
    sum_optional_gradients(std_gradient, grad1.map(|grad| all.mean_gradient(grad)).transpose()?)
}
