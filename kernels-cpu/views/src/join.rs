//! Tensors joined, repeated and turned.
#![expect(unsafe_code, reason = "places that a loop nest checked")]

use std::ops::Range;

use aten::{Joined, Roll};
use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Geometry, Spec, operands};

use engine::allocation::{room, usized};
use engine::data_movement::{Axis, GRAIN, Start, Step, along, copy, copy_called, packed};
use engine::elementwise::loop_nest::LoopNest;
use engine::thread_pool::over;

#[op_impl(aten::cat, CPU)]
fn cat(plan: &Joined<'_>, out: &mut Tensor) -> Result<()> {
    let mut start = out.geometry().offset();
    for part in &plan.parts {
        if let Some(room) = Geometry::strided(part.sizes(), out.strides(), start) {
            copy_called("tensors", &mut out.restride(room)?, part)?;
        }
        start = start.saturating_add(part.sizes()[plan.dim].saturating_mul(out.strides()[plan.dim]));
    }
    Ok(())
}

#[op_impl(aten::repeat, CPU)]
fn repeat(plan: &usize, out: &mut Tensor, this: &Tensor, repeats: &[i64]) -> Result<()> {
    let mut axes = Vec::new();
    for (dim, &times) in repeats.iter().enumerate() {
        let stride = out.strides()[dim];
        let (size, from) = match dim.checked_sub(*plan) {
            Some(own) => (this.sizes()[own], this.strides()[own]),
            None => (1, 0),
        };
        axes.push(Axis::strided(times, stride.saturating_mul(size), 0));
        axes.push(Axis::strided(size, stride, from));
    }
    along(out, this, &axes)
}

#[op_impl(aten::flip, CPU)]
fn flip(plan: &Vec<bool>, out: &mut Tensor, this: &Tensor) -> Result<()> {
    let from = |dim: usize, size: i64, stride: i64| {
        if plan[dim] { table(size, |at| (size - 1 - at) * stride) } else { Ok(Step::Stride(stride)) }
    };
    moved(out, this, from)
}

#[op_impl(aten::roll, CPU)]
fn roll(plan: &Roll, out: &mut Tensor, this: &Tensor) -> Result<()> {
    match plan {
        Roll::Dims(by) => rolled(out, this, by),
        Roll::Flat(by) => {
            let row = Geometry::contiguous(&[out.geometry().count()]);
            let this = packed(this, this.dtype())?.restride(row.clone())?;
            rolled(&mut out.restride(row.at(out.geometry().offset()))?, &this, &[*by])
        }
    }
}

fn rolled(out: &mut Tensor, this: &Tensor, by: &[i64]) -> Result<()> {
    moved(out, this, |dim, size, stride| match by[dim] {
        0 => Ok(Step::Stride(stride)),
        by => table(size, |at| (if at < by { at + (size - by) } else { at - by }) * stride),
    })
}

/// Moves elements to other positions of their dimensions, whose sizes and strides are given.
fn moved(out: &mut Tensor, this: &Tensor, from: impl Fn(usize, i64, i64) -> Result<Step>) -> Result<()> {
    if out.geometry().count() == 0 {
        // There are tables of the other sizes, of which there may be any number.
        return Ok(());
    }
    let axes = (0..this.sizes().len()).map(|dim| {
        let size = this.sizes()[dim];
        Ok(Axis { size, to: Step::Stride(out.strides()[dim]), from: from(dim, size, this.strides()[dim])? })
    });
    let axes = axes.collect::<Result<Vec<Axis>>>()?;
    along(out, this, &axes)
}

/// The places of all positions of a dimension.
fn table(size: i64, place: impl Fn(i64) -> i64) -> Result<Step> {
    let mut places = room(usized(size))?;
    places.extend((0..size).map(place));
    Ok(Step::Table(places))
}

#[op_impl(aten::tril, CPU)]
fn tril(_plan: &(), out: &mut Tensor, this: &Tensor, diagonal: i64) -> Result<()> {
    triangle(out, this, |row, cols| row.saturating_add(diagonal).saturating_add(1).clamp(0, cols)..cols)
}

#[op_impl(aten::triu, CPU)]
fn triu(_plan: &(), out: &mut Tensor, this: &Tensor, diagonal: i64) -> Result<()> {
    triangle(out, this, |row, cols| 0..row.saturating_add(diagonal).clamp(0, cols))
}

/// Writes matrices with zeros in these columns of their rows.
fn triangle(out: &mut Tensor, this: &Tensor, zeros: impl Fn(i64, i64) -> Range<i64> + Sync) -> Result<()> {
    copy(out, this)?;
    let (rank, size) = (out.sizes().len(), out.dtype().size());
    let (sizes, strides) = (out.sizes().to_vec(), out.strides().to_vec());
    let (rows, cols) = (usized(sizes[rank - 2]), sizes[rank - 1]);
    if out.geometry().count() == 0 {
        return Ok(());
    }
    // Each matrix begins at a place of its own; the rest is the same for all.
    let Some(starts) = Geometry::strided(&sizes[..rank - 2], &strides[..rank - 2], 0) else { return Ok(()) };
    let nest = LoopNest::new(starts.sizes(), [(&starts, size)]);
    let operands = operands!(write out)?;
    let start = Start(operands.written()[0].start());
    let (_, [step]) = nest.row();
    let bytes = |place: i64| isize::try_from(place).unwrap_or(0) * size.cast_signed();
    nest.rows(0, nest.count(), |[offset], count| {
        for matrix in 0..count {
            let offset = offset + step * matrix.cast_signed();
            over(0..rows, (GRAIN / usized(cols)).max(1), |rows| {
                for row in rows {
                    let row = i64::try_from(row).unwrap_or(0);
                    let (zeros, first) = (zeros(row, cols), row * strides[rank - 2]);
                    // Side by side, they are written at once.
                    let (spots, length) = if strides[rank - 1] == 1 {
                        (zeros.start..zeros.start + 1, zeros.end - zeros.start)
                    } else {
                        (zeros, 1)
                    };
                    for col in spots {
                        let to = start.at(offset + bytes(first + col * strides[rank - 1]));
                        // SAFETY: row and columns are below the sizes, so the elements are of `out`, which the operand holds.
                        unsafe { to.write_bytes(0, usized(length) * size) };
                    }
                }
            });
        }
    });
    Ok(())
}

#[op_impl(aten::repeat_interleave, CPU)]
fn repeat_interleave(_plan: &(), repeats: &Tensor, output_size: Option<i64>) -> Result<Tensor> {
    let times = packed(repeats, DType::I64)?.to_vec::<i64>()?;
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
    if repeats.dtype() == DType::I64 { Ok(out) } else { packed(&out, repeats.dtype()) }
}
