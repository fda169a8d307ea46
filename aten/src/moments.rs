//! Variances and standard deviations, alone and with the means.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Spec};

use crate::mean_spec;

/// The variances over these dimensions; `correction`, 1 if not given, is taken from how many elements there are.
#[op_def(
    "var.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor",
    out = "correction_out"
)]
pub fn var_correction(this: &Tensor, dim: Option<&[i64]>, correction: Option<Scalar>, keepdim: bool) -> Result<Tensor>;

/// The standard deviations over these dimensions.
#[op_def(
    "std.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor",
    out = "correction_out"
)]
pub fn std_correction(this: &Tensor, dim: Option<&[i64]>, correction: Option<Scalar>, keepdim: bool) -> Result<Tensor>;

/// The variances over these dimensions, and the means.
#[op_def(
    "var_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> (Tensor, Tensor)",
    out = "correction_out"
)]
pub fn var_mean_correction(
    this: &Tensor,
    dim: Option<&[i64]>,
    correction: Option<Scalar>,
    keepdim: bool,
) -> Result<(Tensor, Tensor)>;

/// The standard deviations over these dimensions, and the means.
#[op_def(
    "std_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> (Tensor, Tensor)",
    out = "correction_out"
)]
pub fn std_mean_correction(
    this: &Tensor,
    dim: Option<&[i64]>,
    correction: Option<Scalar>,
    keepdim: bool,
) -> Result<(Tensor, Tensor)>;

#[op_meta(var_correction)]
fn var_meta(this: &Tensor, dim: Option<&[i64]>, _: Option<Scalar>, keepdim: bool) -> Result<Tensor> {
    var_specs(this, dim, keepdim)?.0.on(Device::META)
}

#[op_meta(std_correction)]
fn std_meta(this: &Tensor, dim: Option<&[i64]>, _: Option<Scalar>, keepdim: bool) -> Result<Tensor> {
    var_specs(this, dim, keepdim)?.0.on(Device::META)
}

#[op_meta(var_mean_correction)]
fn var_mean_meta(this: &Tensor, dim: Option<&[i64]>, _: Option<Scalar>, keepdim: bool) -> Result<(Tensor, Tensor)> {
    let (var, mean) = var_specs(this, dim, keepdim)?;
    Ok((var.on(Device::META)?, mean.on(Device::META)?))
}

#[op_meta(std_mean_correction)]
fn std_mean_meta(this: &Tensor, dim: Option<&[i64]>, _: Option<Scalar>, keepdim: bool) -> Result<(Tensor, Tensor)> {
    let (std, mean) = var_specs(this, dim, keepdim)?;
    Ok((std.on(Device::META)?, mean.on(Device::META)?))
}

/// What is taken from how many elements there are: 1 if nothing is said.
///
/// # Errors
///
/// Returns [`BadArgument`] if it is not real.
pub fn correction_of(correction: Option<Scalar>) -> Result<f64, BadArgument> {
    let correction = correction.unwrap_or(Scalar::Int(1));
    correction.check_fits("correction", DType::F64)?;
    Ok(correction.to_f64().unwrap_or(f64::NAN))
}

/// What variances and means look like: a variance is real.
///
/// # Errors
///
/// Where a dimension is not there, or the dtype has no fraction.
pub fn var_specs(this: &Tensor, dim: Option<&[i64]>, keepdim: bool) -> Result<(Spec, Spec), BadArgument> {
    let mean = mean_spec(this, dim, keepdim, None)?;
    let real = match this.dtype() {
        DType::C64 => DType::F32,
        DType::C128 => DType::F64,
        real => real,
    };
    Ok((Spec { dtype: real, ..mean.clone() }, mean))
}

/// The variance of all elements, with Bessel's correction or without.
#[op_def("var(Tensor self, bool unbiased=True) -> Tensor")]
pub fn var(this: &Tensor, unbiased: bool) -> Result<Tensor> {
    var_correction(this, None, Some(Scalar::Int(unbiased.into())), false)
}

/// The variance over dimensions, with Bessel's correction or without.
#[op_def("var.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor", out = "out")]
pub fn var_dim(this: &Tensor, dim: Option<&[i64]>, unbiased: bool, keepdim: bool) -> Result<Tensor> {
    var_correction(this, dim, Some(Scalar::Int(unbiased.into())), keepdim)
}

/// The standard deviation of all elements, with Bessel's correction or without.
#[op_def("std(Tensor self, bool unbiased=True) -> Tensor")]
pub fn std(this: &Tensor, unbiased: bool) -> Result<Tensor> {
    std_correction(this, None, Some(Scalar::Int(unbiased.into())), false)
}

/// The standard deviation over dimensions, with Bessel's correction or without.
#[op_def("std.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor", out = "out")]
pub fn std_dim(this: &Tensor, dim: Option<&[i64]>, unbiased: bool, keepdim: bool) -> Result<Tensor> {
    std_correction(this, dim, Some(Scalar::Int(unbiased.into())), keepdim)
}

/// The variance and the mean of all elements, with Bessel's correction or without.
#[op_def("var_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)")]
pub fn var_mean(this: &Tensor, unbiased: bool) -> Result<(Tensor, Tensor)> {
    var_mean_correction(this, None, Some(Scalar::Int(unbiased.into())), false)
}

/// The variances and the means over dimensions, with Bessel's correction or without.
#[op_def("var_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor)")]
pub fn var_mean_dim(this: &Tensor, dim: Option<&[i64]>, unbiased: bool, keepdim: bool) -> Result<(Tensor, Tensor)> {
    var_mean_correction(this, dim, Some(Scalar::Int(unbiased.into())), keepdim)
}

/// The standard deviation and the mean of all elements, with Bessel's correction or without.
#[op_def("std_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)")]
pub fn std_mean(this: &Tensor, unbiased: bool) -> Result<(Tensor, Tensor)> {
    std_mean_correction(this, None, Some(Scalar::Int(unbiased.into())), false)
}

/// The standard deviations and the means over dimensions, with Bessel's correction or without.
#[op_def("std_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor)")]
pub fn std_mean_dim(this: &Tensor, dim: Option<&[i64]>, unbiased: bool, keepdim: bool) -> Result<(Tensor, Tensor)> {
    std_mean_correction(this, dim, Some(Scalar::Int(unbiased.into())), keepdim)
}
