//! The choice of scales and zero points in exported programs.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Expected};

use super::decomposed::{check_number_dtype, quantized_bounds};
use crate::prelude::*;

/// The distance from 1 to the next number in single precision.
const SINGLE_PRECISION_STEP: f64 = f32::EPSILON as f64;

/// Chooses the scale and the zero point for the numbers of a tensor and integers from `quant_min` to `quant_max`. The scale is `eps` or
/// more.
#[op_def(
    "quantized_decomposed::choose_qparams.tensor(Tensor input, int quant_min, int quant_max, float eps, ScalarType dtype) -> (Tensor, Tensor)"
)]
pub fn choose_qparams_tensor(_: ...) -> Result<(Tensor, Tensor)> {
    let (least, most) = observed_interval(input, quant_min, quant_max, dtype)?;
    let scale = ((most - &least)? / range_width(quant_min, quant_max))?.maximum(&single(eps, input)?)?;
    let at_least = (&least / &scale)?.round()?.to(DType::I32)?;
    let zero_point = ((-&at_least)? + quant_min)?.clamp(quant_min..=quant_max)?;
    Ok((scale.reshape(1)?.to(DType::F64)?, zero_point.reshape(1)?.to(DType::I64)?))
}

/// Chooses the scale for the numbers of a tensor and integers whose middle is the zero point.
#[op_def(
    "quantized_decomposed::choose_qparams_symmetric.tensor(Tensor input, int quant_min, int quant_max, float eps, ScalarType dtype) -> (Tensor, Tensor)"
)]
pub fn choose_qparams_symmetric_tensor(_: ...) -> Result<(Tensor, Tensor)> {
    let (least, most) = observed_interval(input, quant_min, quant_max, dtype)?;
    let half_range = range_width(quant_min, quant_max) / 2.0;
    let scale = ((-&least)?.maximum(&most)? / half_range)?.maximum(&single(eps, input)?)?;
    let zero_point = if dtype == DType::U8 { 128 } else { 0 };
    let zero_point = crate::full(&[1], zero_point.into(), Some(DType::I64), None, Some(input.device()), None)?;
    Ok((scale.reshape(1)?.to(DType::F64)?, zero_point))
}

/// Chooses a scale for each row of the last dimension, a token, and signed integers of 8 bits. The zero points are zero.
#[op_def("quantized_decomposed::choose_qparams_per_token(Tensor input, ScalarType dtype) -> (Tensor, Tensor)")]
pub fn choose_qparams_per_token(input: &Tensor, dtype: DType) -> Result<(Tensor, Tensor)> {
    if dtype != DType::I8 {
        return Err(BadArgument::dtype("dtype", dtype, DType::I8).into());
    }
    let largest = input.abs()?.amax_keepdim(-1)?;
    let largest = if largest.dtype() == DType::F16 { largest.to(DType::F32)? } else { largest };
    let scales = (largest.clamp_min(1e-5)? / 127.0)?;
    let zero_points = crate::zeros_like(&scales, None, None, None, None, None)?;
    Ok((scales, zero_points))
}

/// Chooses a scale and a zero point for each row of the last dimension, and signed integers of 8 bits.
#[op_def(
    "quantized_decomposed::_choose_qparams_per_token_asymmetric_impl(Tensor input, ScalarType dtype) -> (Tensor, Tensor)"
)]
pub fn _choose_qparams_per_token_asymmetric_impl(input: &Tensor, dtype: DType) -> Result<(Tensor, Tensor)> {
    let _ = dtype;
    let (bottom, top) = (-128.0, 127.0);
    let (least, most) = (input.amin_keepdim(-1)?.clamp_max(0)?, input.amax_keepdim(-1)?.clamp_min(0)?);
    let scale = ((&most - &least)? / (top - bottom))?.clamp_min(SINGLE_PRECISION_STEP)?;
    let (low, high) = ((least / &scale)?, (most / &scale)?);
    let is_low_nearer = ((&low + bottom)? + (&high + top)?)?.gt(0)?;
    let zero_point = crate::where_self(&is_low_nearer, &((-&low)? + bottom)?, &((-&high)? + top)?)?;
    let zero_point = zero_point.clamp(bottom..=top)?.round()?;
    Ok((scale.to(DType::F64)?, zero_point.to(DType::I64)?))
}

/// Computes [`_choose_qparams_per_token_asymmetric_impl`].
#[op_def(
    "quantized_decomposed::choose_qparams_per_token_asymmetric(Tensor input, ScalarType dtype) -> (Tensor, Tensor)"
)]
pub fn choose_qparams_per_token_asymmetric(input: &Tensor, dtype: DType) -> Result<(Tensor, Tensor)> {
    _choose_qparams_per_token_asymmetric_impl(input, dtype)
}

/// Returns the least and the greatest number of a tensor, with zero between them.
fn observed_interval(input: &Tensor, quant_min: i64, quant_max: i64, dtype: DType) -> Result<(Tensor, Tensor)> {
    check_number_dtype(input)?;
    quantized_bounds(dtype)?;
    if quant_min > 0 {
        return Err(BadArgument::number("quant_min", quant_min, ..=0).because("the range contains zero").into());
    }
    if quant_max < 0 || quant_max == quant_min {
        let expected = Expected::AtLeast(i64::from(quant_min == 0).into());
        return Err(BadArgument::number("quant_max", quant_max, expected).because("the range contains zero").into());
    }
    let (least, most) = crate::aminmax(input, None, false)?;
    Ok((least.clamp_max(0)?, most.clamp_min(0)?))
}

/// Returns a number in single precision, as a tensor of one element.
#[expect(clippy::cast_possible_truncation, reason = "the number is rounded")]
fn single(number: f64, like: &Tensor) -> Result<Tensor> {
    Tensor::from([number as f32]).to(like.device())
}

#[expect(clippy::cast_precision_loss, reason = "a range is rounded")]
fn range_width(quant_min: i64, quant_max: i64) -> f64 {
    quant_max as f64 - quant_min as f64
}
