//! Quantisation in exported programs, under the namespace `quantized_decomposed`: of whole tensors, and of channels.
//!
//! A quantised tensor is an integer or float8 tensor; its scale and zero point are arguments of the operators.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Expected};

use super::affine::{along_axis, check_single};
use crate::prelude::*;

/// Quantises the numbers of a tensor: `round(input / scale) + zero_point`, from `quant_min` to `quant_max`.
#[op_def(
    "quantized_decomposed::quantize_per_tensor(Tensor input, float scale, int zero_point, int quant_min, int quant_max, ScalarType dtype) -> Tensor"
)]
pub fn quantize_per_tensor(_: ...) -> Result<Tensor> {
    let input = single_precision(input)?;
    check_quantized_range(dtype, quant_min, quant_max)?;
    if scale == 0.0 {
        return Err(BadArgument::number("scale", scale, Expected::Not(0.0.into())).into());
    }
    let integers = ((&input * (1.0 / scale))?.round()? + zero_point)?;
    integers.clamp(quant_min..=quant_max)?.to(dtype)
}

/// Computes [`quantize_per_tensor`] with a scale and a zero point in tensors.
#[op_def(
    "quantized_decomposed::quantize_per_tensor.tensor(Tensor input, Tensor scale, Tensor zero_point, int quant_min, int quant_max, ScalarType dtype) -> Tensor"
)]
pub fn quantize_per_tensor_tensor(_: ...) -> Result<Tensor> {
    check_quantized_range(dtype, quant_min, quant_max)?;
    let integers = integers_by_tensors(input, scale, zero_point)?;
    integers.clamp(quant_min..=quant_max)?.to(dtype)
}

/// Computes [`quantize_per_tensor`] with a scale, a zero point and a range in tensors.
#[op_def(
    "quantized_decomposed::quantize_per_tensor.tensor2(Tensor input, Tensor scale, Tensor zero_point, Tensor quant_min, Tensor quant_max, ScalarType dtype) -> Tensor"
)]
pub fn quantize_per_tensor_tensor2(_: ...) -> Result<Tensor> {
    quantized_bounds(dtype)?;
    let (least, most) = (single_element("quant_min", quant_min)?, single_element("quant_max", quant_max)?);
    integers_by_tensors(input, scale, zero_point)?.clamp(&least..=&most)?.to(dtype)
}

/// Converts a quantised tensor to real numbers: `(input - zero_point) * scale`, in `out_dtype`, by default float32.
#[op_def(
    "quantized_decomposed::dequantize_per_tensor(Tensor input, float scale, int zero_point, int quant_min, int quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor"
)]
pub fn dequantize_per_tensor(_: ...) -> Result<Tensor> {
    let _ = (quant_min, quant_max);
    check_is_quantized(input, dtype)?;
    let numbers = input.to(out_dtype.unwrap_or(DType::F32))?;
    (numbers - zero_point)? * scale
}

/// Computes [`dequantize_per_tensor`] with a scale and a zero point in tensors.
#[op_def(
    "quantized_decomposed::dequantize_per_tensor.tensor(Tensor input, Tensor scale, Tensor zero_point, int quant_min, int quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor"
)]
pub fn dequantize_per_tensor_tensor(_: ...) -> Result<Tensor> {
    let _ = (quant_min, quant_max);
    check_is_quantized(input, dtype)?;
    let dtype = out_dtype.unwrap_or(DType::F32);
    let numbers = (input.to(dtype)? - single_element("zero_point", zero_point)?)?;
    // As a number, the scale gives integers a fraction, and does not change another dtype.
    (numbers * single_element("scale", scale)?)?.to(if dtype.is_floating() { dtype } else { DType::F32 })
}

/// Computes [`dequantize_per_tensor`] with a scale, a zero point and a range in tensors.
#[op_def(
    "quantized_decomposed::dequantize_per_tensor.tensor2(Tensor input, Tensor scale, Tensor zero_point, Tensor quant_min, Tensor quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor"
)]
pub fn dequantize_per_tensor_tensor2(_: ...) -> Result<Tensor> {
    check_single("quant_min", quant_min)?;
    check_single("quant_max", quant_max)?;
    dequantize_per_tensor_tensor(input, scale, zero_point, 0, 0, dtype, out_dtype)
}

/// Quantises the numbers of a tensor, with a scale and a zero point for each index of a dimension.
#[op_def(
    "quantized_decomposed::quantize_per_channel(Tensor input, Tensor scales, Tensor zero_points, int axis, int quant_min, int quant_max, ScalarType dtype) -> Tensor"
)]
pub fn quantize_per_channel(_: ...) -> Result<Tensor> {
    let input = single_precision(input)?;
    check_quantized_range(dtype, quant_min, quant_max)?;
    let axis = channel_axis(&input, [("scales", Some(scales)), ("zero_points", Some(zero_points))], axis)?;
    let (scales, zero_points) = (along_axis(scales, axis, &input)?, along_axis(zero_points, axis, &input)?);
    let integers = ((input * scales.reciprocal()?)?.round()? + zero_points)?;
    integers.clamp(quant_min..=quant_max)?.to(dtype)
}

/// Converts a quantised tensor to real numbers, with a scale and a zero point for each index of a dimension.
#[op_def(
    "quantized_decomposed::dequantize_per_channel(Tensor input, Tensor scales, Tensor? zero_points, int axis, int quant_min, int quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor"
)]
pub fn dequantize_per_channel(_: ...) -> Result<Tensor> {
    check_is_quantized(input, dtype)?;
    check_quantized_range(dtype, quant_min, quant_max)?;
    let axis = channel_axis(input, [("scales", Some(scales)), ("zero_points", zero_points)], axis)?;
    let scales = along_axis(scales, axis, input)?;
    let numbers = match zero_points {
        Some(zero_points) => (input - along_axis(zero_points, axis, input)?)?,
        None => input.clone(),
    };
    (numbers * scales)?.to(out_dtype.unwrap_or(DType::F32))
}

/// Rounds numbers to those that integers represent, with a scale and a zero point for each index of a dimension. The gradient passes to
/// the elements in range.
#[op_def(
    "quantized_decomposed::fake_quant_per_channel(Tensor input, Tensor scales, Tensor zero_points, int axis, int quant_min, int quant_max) -> Tensor"
)]
pub fn fake_quant_per_channel(_: ...) -> Result<Tensor> {
    if input.dtype() != DType::F32 && input.dtype() != DType::F64 {
        return Err(BadArgument::dtype("input", input.dtype(), DType::F32).into());
    }
    let axis = channel_axis(input, [("scales", Some(scales)), ("zero_points", Some(zero_points))], axis)?;
    let zero_points = zero_points.to(DType::I32)?.reshape(-1)?;
    let scales = scales.to(DType::F32)?.reshape(-1)?;
    let axis = i64::try_from(axis).unwrap_or(i64::MAX);
    crate::fake_quantize_per_channel_affine(input, &scales, &zero_points, axis, quant_min, quant_max)
}

/// Converts a tensor to another dtype.
#[op_def("quantized_decomposed::convert_element_type.no_fuse(Tensor input, ScalarType dtype) -> Tensor")]
pub fn convert_element_type_no_fuse(input: &Tensor, dtype: DType) -> Result<Tensor> {
    crate::to_dtype(input, dtype, false, true, None)
}

/// Returns half precision converted to single precision. Refuses other dtypes.
fn single_precision(input: &Tensor) -> Result<Tensor> {
    check_number_dtype(input)?;
    input.to(DType::F32)
}

/// Refuses numbers in other dtypes than single and half precision.
pub(super) fn check_number_dtype(input: &Tensor) -> Result<(), BadArgument> {
    if matches!(input.dtype(), DType::F32 | DType::F16 | DType::BF16) {
        return Ok(());
    }
    Err(BadArgument::dtype("input", input.dtype(), &[DType::F32, DType::F16, DType::BF16]))
}

/// Refuses a range of integers that a quantised dtype does not have.
pub(super) fn check_quantized_range(dtype: DType, quant_min: i64, quant_max: i64) -> Result<(), BadArgument> {
    let (least, most) = quantized_bounds(dtype)?;
    if quant_min < least {
        return Err(BadArgument::number("quant_min", quant_min, least..));
    }
    if quant_max > most {
        return Err(BadArgument::number("quant_max", quant_max, ..=most));
    }
    Ok(())
}

/// Returns the least and the greatest integer of a dtype of quantised tensors.
pub(super) fn quantized_bounds(dtype: DType) -> Result<(i64, i64), BadArgument> {
    match dtype {
        DType::F8E4M3FN => Ok((-448, 448)),
        DType::F8E5M2 => Ok((-57344, 57344)),
        DType::I64 => Err(unquantized_dtype("dtype", dtype)),
        _ => dtype.integer_range().ok_or_else(|| unquantized_dtype("dtype", dtype)),
    }
}

fn unquantized_dtype(argument: &'static str, dtype: DType) -> BadArgument {
    let expected: &'static [DType] = &[DType::U8, DType::I8, DType::I16, DType::I32, DType::F8E4M3FN, DType::F8E5M2];
    BadArgument::dtype(argument, dtype, DTypes::OneOf(expected))
}

/// Refuses a tensor that is not of a quantised dtype, or not of the dtype that the call names.
fn check_is_quantized(input: &Tensor, dtype: DType) -> Result<(), BadArgument> {
    quantized_bounds(dtype)?;
    if input.dtype() != dtype {
        return Err(BadArgument::dtype("input", input.dtype(), dtype).like("dtype"));
    }
    Ok(())
}

/// Returns the integers of the numbers of a tensor, which may be outside of a range.
fn integers_by_tensors(input: &Tensor, scale: &Tensor, zero_point: &Tensor) -> Result<Tensor> {
    let inverse_scale = single_element("scale", scale)?.to(DType::F64)?.reciprocal()?;
    (single_precision(input)? * inverse_scale)?.round()? + single_element("zero_point", zero_point)?
}

/// Returns a tensor of one element without its dimensions.
fn single_element(name: &'static str, tensor: &Tensor) -> Result<Tensor> {
    check_single(name, tensor)?;
    tensor.reshape(())
}

/// Refuses scales and zero points that are not vectors for a dimension: of its size, or of one element. Returns the dimension.
fn channel_axis(
    input: &Tensor,
    channels: [(&'static str, Option<&Tensor>); 2],
    axis: i64,
) -> Result<usize, BadArgument> {
    let rank = input.sizes().len();
    if rank == 0 {
        return Err(BadArgument::rank("input", 0, 1..));
    }
    let axis = dispatch_runtime::wrap_dim("axis", axis, rank)?;
    for (name, tensor) in channels {
        let Some(tensor) = tensor else { continue };
        if tensor.sizes().len() != 1 || ![1, input.sizes()[axis]].contains(&tensor.sizes()[0]) {
            return Err(BadArgument::sizes(name, tensor.sizes(), &[input.sizes()[axis]][..]).like_dim("input", axis));
        }
    }
    Ok(axis)
}
