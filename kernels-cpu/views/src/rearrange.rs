//! Kernels of repeating, flipping and rolling.

use aten::RollShifts;
use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Geometry, Spec};

use engine::allocation::{to_usize, try_with_capacity};
use engine::data_movement::{AxisOffsets, CopyAxis, copy_along_axes, to_contiguous};

#[op_impl(aten::repeat, CPU)]
fn repeat(plan: &usize, out: &mut Tensor, this: &Tensor, repeats: &[i64]) -> Result<()> {
    let mut axes = Vec::new();
    for (dim, &times) in repeats.iter().enumerate() {
        let stride = out.strides()[dim];
        let (size, from) = match dim.checked_sub(*plan) {
            Some(own) => (this.sizes()[own], this.strides()[own]),
            None => (1, 0),
        };
        axes.push(CopyAxis::strided(times, stride.saturating_mul(size), 0));
        axes.push(CopyAxis::strided(size, stride, from));
    }
    copy_along_axes(out, this, &axes)
}

#[op_impl(aten::flip, CPU)]
fn flip(plan: &Vec<bool>, out: &mut Tensor, this: &Tensor) -> Result<()> {
    let from = |dim: usize, size: i64, stride: i64| {
        if plan[dim] { offset_table(size, |at| (size - 1 - at) * stride) } else { Ok(AxisOffsets::Stride(stride)) }
    };
    copy_with_offsets(out, this, from)
}

#[op_impl(aten::roll, CPU)]
fn roll(plan: &RollShifts, out: &mut Tensor, this: &Tensor) -> Result<()> {
    match plan {
        RollShifts::PerDim(by) => roll_dims(out, this, by),
        RollShifts::Flat(by) => {
            let row = Geometry::contiguous(&[out.geometry().count()]);
            let this = to_contiguous(this, this.dtype())?.restride(row.clone())?;
            roll_dims(&mut out.restride(row.with_offset(out.geometry().offset()))?, &this, &[*by])
        }
    }
}

fn roll_dims(out: &mut Tensor, this: &Tensor, by: &[i64]) -> Result<()> {
    copy_with_offsets(out, this, |dim, size, stride| match by[dim] {
        0 => Ok(AxisOffsets::Stride(stride)),
        by => offset_table(size, |at| (if at < by { at + (size - by) } else { at - by }) * stride),
    })
}

/// Copies elements to other indices of their dimensions. `from` returns the step of a dimension with its size and stride.
fn copy_with_offsets(
    out: &mut Tensor,
    this: &Tensor,
    from: impl Fn(usize, i64, i64) -> Result<AxisOffsets>,
) -> Result<()> {
    if out.geometry().count() == 0 {
        // An empty tensor may have sizes that are too large for tables.
        return Ok(());
    }
    let axes = (0..this.sizes().len()).map(|dim| {
        let size = this.sizes()[dim];
        Ok(CopyAxis { size, to: AxisOffsets::Stride(out.strides()[dim]), from: from(dim, size, this.strides()[dim])? })
    });
    let axes = axes.collect::<Result<Vec<CopyAxis>>>()?;
    copy_along_axes(out, this, &axes)
}

/// Returns a table of the offsets of all indices of a dimension.
fn offset_table(size: i64, place: impl Fn(i64) -> i64) -> Result<AxisOffsets> {
    let mut places = try_with_capacity(to_usize(size))?;
    places.extend((0..size).map(place));
    Ok(AxisOffsets::Table(places))
}

#[op_impl(aten::repeat_interleave, CPU)]
fn repeat_interleave(_plan: &(), repeats: &Tensor, output_size: Option<i64>) -> Result<Tensor> {
    let times = to_contiguous(repeats, DType::I64)?.to_vec::<i64>()?;
    if let Some(negative) = times.iter().find(|&&times| times < 0) {
        return Err(BadArgument::number("repeats", *negative, 0..).into());
    }
    let count = times.iter().fold(0, |sum: i64, &times| sum.saturating_add(times));
    if let Some(wanted) = output_size.filter(|&wanted| wanted != count) {
        return Err(BadArgument::number("output_size", wanted, count).because("the sum of `repeats` is").into());
    }
    let mut out = Spec::contiguous(DType::I64, &[count]).on(repeats.device())?;
    {
        let mut out = out.write::<i64>()?;
        let mut start = 0;
        for (position, times) in (0..).zip(times) {
            let end = start + usize::try_from(times).unwrap_or(0);
            out[start..end].fill(position);
            start = end;
        }
    }
    if repeats.dtype() == DType::I64 { Ok(out) } else { to_contiguous(&out, repeats.dtype()) }
}
