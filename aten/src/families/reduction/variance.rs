//! Variances and standard deviations, with or without the means.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DimFlags, ReductionDims, Spec};

use super::sums::mean_dim_plan;

/// Computes the variances over dimensions. The divisor is the number of elements minus `correction`, which is 1 if not given.
#[op_def(
    "var.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor",
    plan,
    out = "correction_out"
)]
pub fn var_correction(_: ...) -> Result<Tensor>;

/// Computes the standard deviations over dimensions. The divisor is the number of elements minus `correction`, which is 1 if not given.
#[op_def(
    "std.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor",
    plan,
    out = "correction_out"
)]
pub fn std_correction(_: ...) -> Result<Tensor>;

/// Computes the variances and the means over dimensions.
#[op_def(
    "var_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> (Tensor, Tensor)",
    plan,
    out = "correction_out"
)]
pub fn var_mean_correction(_: ...) -> Result<(Tensor, Tensor)>;

/// Computes the standard deviations and the means over dimensions.
#[op_def(
    "std_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> (Tensor, Tensor)",
    plan,
    out = "correction_out"
)]
pub fn std_mean_correction(_: ...) -> Result<(Tensor, Tensor)>;

/// The plan of variances over dimensions.
pub struct VariancePlan {
    /// Whether each dimension is reduced.
    pub reduced_dims: DimFlags,
    /// The number to subtract from the number of elements.
    pub correction: f64,
}

#[op_plan(var_correction)]
fn var_plan(_: ...) -> Result<Plan<VariancePlan>, BadArgument> {
    let Plan { value, outputs: [variance, _] } = variance_and_mean_plan(this, dim, correction, keepdim)?;
    Ok(Plan::new(value, [variance]))
}

#[op_plan(std_correction)]
fn std_plan(_: ...) -> Result<Plan<VariancePlan>, BadArgument> {
    let Plan { value, outputs: [variance, _] } = variance_and_mean_plan(this, dim, correction, keepdim)?;
    Ok(Plan::new(value, [variance]))
}

#[op_plan(var_mean_correction)]
fn var_mean_plan(_: ...) -> Result<Plan<VariancePlan, 2>, BadArgument> {
    variance_and_mean_plan(this, dim, correction, keepdim)
}

#[op_plan(std_mean_correction)]
fn std_mean_plan(_: ...) -> Result<Plan<VariancePlan, 2>, BadArgument> {
    variance_and_mean_plan(this, dim, correction, keepdim)
}

/// Plans variances, which are real, and means.
fn variance_and_mean_plan(
    this: &Tensor,
    dim: Option<&[i64]>,
    correction: Option<Scalar>,
    keepdim: bool,
) -> Result<Plan<VariancePlan, 2>, BadArgument> {
    let Plan { value: ReductionDims { is_reduced: gone }, outputs: [mean] } = mean_dim_plan(this, dim, keepdim, None)?;
    let correction = correction.unwrap_or(Scalar::Int(1));
    correction.check_fits("correction", DType::F64)?;
    let correction = correction.to_f64().unwrap_or(f64::NAN);
    let variance = Spec { dtype: this.dtype().to_real(), ..mean.clone() };
    Ok(Plan::new(VariancePlan { reduced_dims: gone, correction }, [variance, mean]))
}

/// Computes the variance of all elements, with Bessel's correction or without.
#[op_def("var(Tensor self, bool unbiased=True) -> Tensor")]
pub fn var(this: &Tensor, unbiased: bool) -> Result<Tensor> {
    var_correction(this, None, Some(Scalar::Int(unbiased.into())), false)
}

/// Computes the variance over dimensions, with Bessel's correction or without.
#[op_def("var.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor", out = "out")]
pub fn var_dim(this: &Tensor, dim: Option<&[i64]>, unbiased: bool, keepdim: bool) -> Result<Tensor> {
    var_correction(this, dim, Some(Scalar::Int(unbiased.into())), keepdim)
}

/// Computes the standard deviation of all elements, with Bessel's correction or without.
#[op_def("std(Tensor self, bool unbiased=True) -> Tensor")]
pub fn std(this: &Tensor, unbiased: bool) -> Result<Tensor> {
    std_correction(this, None, Some(Scalar::Int(unbiased.into())), false)
}

/// Computes the standard deviation over dimensions, with Bessel's correction or without.
#[op_def("std.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor", out = "out")]
pub fn std_dim(this: &Tensor, dim: Option<&[i64]>, unbiased: bool, keepdim: bool) -> Result<Tensor> {
    std_correction(this, dim, Some(Scalar::Int(unbiased.into())), keepdim)
}

/// Computes the variance and the mean of all elements, with Bessel's correction or without.
#[op_def("var_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)")]
pub fn var_mean(this: &Tensor, unbiased: bool) -> Result<(Tensor, Tensor)> {
    var_mean_correction(this, None, Some(Scalar::Int(unbiased.into())), false)
}

/// Computes the variances and the means over dimensions, with Bessel's correction or without.
#[op_def("var_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor)")]
pub fn var_mean_dim(this: &Tensor, dim: Option<&[i64]>, unbiased: bool, keepdim: bool) -> Result<(Tensor, Tensor)> {
    var_mean_correction(this, dim, Some(Scalar::Int(unbiased.into())), keepdim)
}

/// Computes the standard deviation and the mean of all elements, with Bessel's correction or without.
#[op_def("std_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)")]
pub fn std_mean(this: &Tensor, unbiased: bool) -> Result<(Tensor, Tensor)> {
    std_mean_correction(this, None, Some(Scalar::Int(unbiased.into())), false)
}

/// Computes the standard deviations and the means over dimensions, with Bessel's correction or without.
#[op_def("std_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor)")]
pub fn std_mean_dim(this: &Tensor, dim: Option<&[i64]>, unbiased: bool, keepdim: bool) -> Result<(Tensor, Tensor)> {
    std_mean_correction(this, dim, Some(Scalar::Int(unbiased.into())), keepdim)
}
