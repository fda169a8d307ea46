//! Quantisation in exported programs, with a scale and a zero point for each row of the last dimension, or for each group of its elements.

use dispatch_runtime::BadArgument;
use dispatch_runtime::prelude::*;

use super::decomposed::check_quantized_range;
use crate::prelude::*;

/// Quantises the numbers of a tensor, with a scale and a zero point for each row of the last dimension, a token.
#[op_def(
    "quantized_decomposed::quantize_per_token(Tensor input, Tensor scales, Tensor zero_points, int quant_min, int quant_max, ScalarType dtype) -> Tensor"
)]
pub fn quantize_per_token(_: ...) -> Result<Tensor> {
    check_quantized_range(dtype, quant_min, quant_max)?;
    let tokens = input.sizes().split_last().map_or(1, |(_, tokens)| tokens.iter().product());
    for (name, tensor) in [("scales", scales), ("zero_points", zero_points)] {
        if tensor.geometry().count() != tokens {
            return Err(
                BadArgument::sizes(name, tensor.sizes(), dispatch_runtime::Sizes::ElementCount(tokens.into())).into()
            );
        }
    }
    round_to_integers(input, scales, zero_points, (quant_min, quant_max), dtype)
}

/// Converts a quantised tensor to real numbers, with a scale and a zero point for each row of the last dimension.
#[op_def(
    "quantized_decomposed::dequantize_per_token(Tensor input, Tensor scales, Tensor zero_points, int quant_min, int quant_max, ScalarType dtype, ScalarType output_dtype) -> Tensor"
)]
pub fn dequantize_per_token(_: ...) -> Result<Tensor> {
    let _ = (quant_min, quant_max, dtype);
    ((input - zero_points)? * scales)?.to(output_dtype)
}

/// Quantises a matrix, with a scale and a zero point for each group of `group_size` elements in a row.
#[op_def(
    "quantized_decomposed::quantize_per_channel_group(Tensor input, Tensor scales, Tensor zero_points, int quant_min, int quant_max, ScalarType dtype, int group_size) -> Tensor"
)]
pub fn quantize_per_channel_group(_: ...) -> Result<Tensor> {
    check_quantized_range(dtype, quant_min, quant_max)?;
    let group_size = check_groups(input, [("scales", Some(scales)), ("zero_points", Some(zero_points))], group_size)?;
    let groups = input.reshape([-1, group_size])?;
    let (scales, zero_points) = (scales.reshape([-1, 1])?, zero_points.reshape([-1, 1])?);
    round_to_integers(&groups, &scales, &zero_points, (quant_min, quant_max), dtype)?.reshape(input.sizes())
}

/// Converts a quantised matrix to real numbers, with a scale and a zero point for each group of `group_size` elements in a row.
#[op_def(
    "quantized_decomposed::dequantize_per_channel_group(Tensor input, Tensor scales, Tensor? zero_points, int quant_min, int quant_max, ScalarType dtype, int group_size, ScalarType output_dtype) -> Tensor"
)]
pub fn dequantize_per_channel_group(_: ...) -> Result<Tensor> {
    let _ = (quant_min, quant_max, dtype);
    let group_size = check_groups(input, [("scales", Some(scales)), ("zero_points", zero_points)], group_size)?;
    let groups = input.reshape([-1, group_size])?;
    let distances = match zero_points {
        Some(zero_points) => (groups - zero_points.reshape([-1, 1])?)?,
        None => groups,
    };
    (distances * scales.reshape([-1, 1])?)?.reshape(input.sizes())?.to(output_dtype)
}

/// Returns `round(input / scale + zero_point)`, clamped to a range.
fn round_to_integers(
    input: &Tensor,
    scales: &Tensor,
    zero_points: &Tensor,
    (quant_min, quant_max): (i64, i64),
    dtype: DType,
) -> Result<Tensor> {
    let integers = ((input * scales.reciprocal()?)? + zero_points)?.round()?;
    integers.clamp(quant_min..=quant_max)?.to(dtype)
}

/// Refuses groups that do not divide the rows of a matrix, and parameters that are not one for each group. Returns the size of a group.
fn check_groups(
    input: &Tensor,
    parameters: [(&'static str, Option<&Tensor>); 2],
    group_size: i64,
) -> Result<i64, BadArgument> {
    let &[rows, columns] = input.sizes() else {
        return Err(BadArgument::rank("input", input.sizes().len(), 2));
    };
    if group_size <= 1 {
        return Err(BadArgument::number("group_size", group_size, 2..));
    }
    let is_one_group = group_size > columns && parameters[0].1.is_some_and(|scales| scales.sizes().last() == Some(&1));
    let group_size = if is_one_group { columns } else { group_size };
    if group_size == 0 || columns % group_size != 0 {
        return Err(BadArgument::number(
            "group_size",
            group_size,
            dispatch_runtime::Expected::DivisorOf(columns.into()),
        ));
    }
    let groups = rows.saturating_mul(columns / group_size);
    for (name, tensor) in parameters {
        let Some(tensor) = tensor else { continue };
        if ![1, groups].contains(&tensor.geometry().count()) {
            return Err(BadArgument::sizes(name, tensor.sizes(), dispatch_runtime::Sizes::ElementCount(groups.into())));
        }
    }
    Ok(group_size)
}
