//! Products with weights of 4-bit integers, for which each row of the other operand is quantised to 8 bits.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Expected, Sizes, Spec};

use crate::prelude::*;

/// Packs a weight for [`_dyn_quant_matmul_4bit`]: its bytes, which have two integers each, the scales of its blocks and a bias become one
/// vector of numbers in single precision.
#[op_def(
    "_dyn_quant_pack_4bit_weight(Tensor weights, Tensor scales_zeros, Tensor? bias, int block_size, int in_features, int out_features) -> Tensor",
    plan, out = "out", body = CompositeExplicitAutograd
)]
pub fn _dyn_quant_pack_4bit_weight(_: ...) -> Result<Tensor> {
    _dyn_quant_pack_4bit_weight::plan(weights, scales_zeros, bias, block_size, in_features, out_features)?;
    let parts = [Some(weights), Some(scales_zeros), bias];
    let vectors = parts.into_iter().flatten().map(|part| part.to(DType::F32)?.reshape(-1));
    crate::cat(&vectors.collect::<Result<Vec<_>>>()?, 0)
}

#[op_plan(_dyn_quant_pack_4bit_weight)]
fn packing_plan(_: ...) -> Result<Plan<()>, BadArgument> {
    let layout = PackedWeight::new(block_size, in_features, out_features)?;
    if weights.dtype() != DType::U8 {
        return Err(BadArgument::dtype("weights", weights.dtype(), DType::U8));
    }
    let parts = [
        ("weights", Some(weights), layout.bytes),
        ("scales_zeros", Some(scales_zeros), layout.scales),
        ("bias", bias, out_features),
    ];
    for (name, tensor, count) in parts {
        if let Some(tensor) = tensor.filter(|tensor| tensor.geometry().count() != count) {
            return Err(BadArgument::sizes(name, tensor.sizes(), Sizes::ElementCount(count.into())));
        }
    }
    let bias_size = if bias.is_some() { out_features } else { 0 };
    Ok(Plan::new((), [Spec::contiguous(DType::F32, &[layout.bytes + layout.scales + bias_size])]))
}

/// The product of a matrix with the transpose of a weight that [`_dyn_quant_pack_4bit_weight`] packed, plus its bias. Each row of the matrix
/// is rounded to 8-bit integers with a scale and a zero point of its own.
#[op_def(
    "_dyn_quant_matmul_4bit(Tensor inp, Tensor packed_weights, int block_size, int in_features, int out_features) -> Tensor",
    plan, out = "out", body = CompositeExplicitAutograd
)]
pub fn _dyn_quant_matmul_4bit(_: ...) -> Result<Tensor> {
    let layout = _dyn_quant_matmul_4bit::plan(inp, packed_weights, block_size, in_features, out_features)?.value;
    let blocks = in_features / block_size;
    let bytes = crate::narrow(packed_weights, 0, 0, layout.bytes)?.to(DType::U8)?;
    let integers = crate::stack(&[bytes.bitwise_and(15)?, bytes.bitwise_right_shift(4)?], 1)?.to(DType::I32)?;
    let integers = (integers - 8)?.reshape([out_features, blocks, block_size])?;
    let scales = crate::narrow(packed_weights, 0, layout.bytes, layout.scales)?.reshape([out_features, blocks])?;
    let (rows, row_scales) = quantize_rows(&inp.to(DType::F32)?)?;
    let rows = rows.reshape([-1, blocks, block_size])?;
    let sums = crate::bmm(&rows.transpose(0, 1)?, &integers.permute([1, 2, 0])?)?.to(DType::F32)?;
    let sums = (sums * scales.t()?.unsqueeze(1)?)?.sum_dims(0)?;
    let product = (sums * row_scales)?;
    let product = match packed_weights.geometry().count() - layout.bytes - layout.scales {
        0 => product,
        count => (product + crate::narrow(packed_weights, 0, layout.bytes + layout.scales, count)?)?,
    };
    product.to(inp.dtype())
}

#[op_plan(_dyn_quant_matmul_4bit)]
fn product_plan(_: ...) -> Result<Plan<PackedWeight>, BadArgument> {
    let layout = PackedWeight::new(block_size, in_features, out_features)?;
    if !matches!(inp.dtype(), DType::F32 | DType::BF16) {
        return Err(BadArgument::dtype("inp", inp.dtype(), &[DType::F32, DType::BF16]));
    }
    let &[rows, columns] = inp.sizes() else {
        return Err(BadArgument::rank("inp", inp.sizes().len(), 2));
    };
    if columns != in_features {
        return Err(BadArgument::size("inp", inp.sizes(), 1, in_features).because("`in_features` says"));
    }
    if packed_weights.dtype() != DType::F32 {
        return Err(BadArgument::dtype("packed_weights", packed_weights.dtype(), DType::F32));
    }
    let count = layout.bytes + layout.scales;
    if packed_weights.sizes() != [count] && packed_weights.sizes() != [count + out_features] {
        let expected = format!("{count} elements, or {} with a bias", count + out_features);
        return Err(BadArgument::sizes("packed_weights", packed_weights.sizes(), expected));
    }
    Ok(Plan::new(layout, [Spec::contiguous(inp.dtype(), &[rows, out_features])]))
}

/// The numbers of elements in a packed weight.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PackedWeight {
    /// The number of bytes, each of two integers.
    pub bytes: i64,
    /// The number of scales.
    pub scales: i64,
}

impl PackedWeight {
    fn new(block_size: i64, in_features: i64, out_features: i64) -> Result<Self, BadArgument> {
        for (name, size) in [("in_features", in_features), ("out_features", out_features)] {
            if size < 0 || size > i64::from(i32::MAX) {
                return Err(BadArgument::number(name, size, 0..=i64::from(i32::MAX)));
            }
        }
        if in_features % 2 != 0 {
            return Err(BadArgument::number("in_features", in_features, Expected::MultipleOf(2_i64.into())));
        }
        let is_block = block_size > 0 && in_features % block_size == 0;
        if !is_block || block_size != in_features && block_size % 32 != 0 {
            return Err(BadArgument::value(
                "block_size",
                block_size,
                "`in_features`, or a divisor of it that 32 divides",
            ));
        }
        Ok(Self { bytes: out_features * (in_features / 2), scales: out_features * (in_features / block_size) })
    }
}

/// Rounds each row of a matrix to 8-bit integers. Returns their distances from the row's zero point, and the scale of each row.
fn quantize_rows(matrix: &Tensor) -> Result<(Tensor, Tensor)> {
    let (bottom, top) = (-128.0, 127.0);
    let (least, most) = (matrix.amin_keepdim(-1)?.clamp_max(0)?, matrix.amax_keepdim(-1)?.clamp_min(0)?);
    let width = (&most - &least)?;
    let per_unit = (width.reciprocal()? * (top - bottom))?.masked_fill(&width.eq(0)?, 1)?;
    let (low, high) = ((least * &per_unit)?, (most * &per_unit)?);
    let is_low_nearer = ((&low + bottom)? + (&high + top)?)?.gt(0)?;
    let zero_point = crate::where_self(&is_low_nearer, &((-&low)? + bottom)?, &((-&high)? + top)?)?;
    let zero_point = zero_point.clamp(bottom..=top)?.round()?;
    let integers = (round_half_away_from_zero(&(matrix * &per_unit)?)? + &zero_point)?;
    let distances = (integers.clamp(bottom..=top)? - zero_point)?;
    Ok((distances.to(DType::I32)?, per_unit.reciprocal()?))
}

fn round_half_away_from_zero(numbers: &Tensor) -> Result<Tensor> {
    let whole = numbers.trunc()?;
    let is_tie = (numbers - &whole)?.abs()?.eq(0.5)?;
    crate::where_self(&is_tie, &(whole + numbers.sign()?)?, &numbers.round()?)
}
