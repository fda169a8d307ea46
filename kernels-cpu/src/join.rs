//! Tensors joined, repeated and turned.
#![expect(unsafe_code, reason = "places that a loop nest checked")]

use std::ops::Range;

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Geometry, Spec, operands};

use crate::elementwise::loop_nest::LoopNest;
use crate::moves::{Axis, GRAIN, Start, Step, along, copy, copy_called, packed};
use crate::numbers::{room, usized};
use crate::pool::over;

#[op_impl(aten::cat, CPU)]
fn cat(tensors: &[Tensor], dim: i64) -> Result<Tensor> {
    let (spec, dim) = aten::cat_spec(tensors, dim)?;
    let device = tensors.first().map_or(Device::CPU, Tensor::device);
    let out = spec.on(device)?;
    let mut start = 0_i64;
    for tensor in tensors.iter().filter(|tensor| !aten::is_nothing(tensor)) {
        let offset = start.saturating_mul(out.strides()[dim]);
        if let Some(part) = Geometry::strided(tensor.sizes(), out.strides(), offset) {
            copy_called("tensors", &mut out.restride(part)?, tensor)?;
        }
        start = start.saturating_add(tensor.sizes()[dim]);
    }
    Ok(out)
}

#[op_impl(aten::repeat, CPU)]
fn repeat(this: &Tensor, repeats: &[i64]) -> Result<Tensor> {
    let mut out = aten::repeat_spec(this, repeats)?.on(this.device())?;
    let new = repeats.len() - this.sizes().len();
    let mut axes = Vec::new();
    for (dim, &times) in repeats.iter().enumerate() {
        let stride = out.strides()[dim];
        let (size, from) = match dim.checked_sub(new) {
            Some(own) => (this.sizes()[own], this.strides()[own]),
            None => (1, 0),
        };
        axes.push(Axis { size: times, to: Step::Stride(stride.saturating_mul(size)), from: Step::Stride(0) });
        axes.push(Axis { size, to: Step::Stride(stride), from: Step::Stride(from) });
    }
    along(&mut out, this, &axes)?;
    Ok(out)
}

#[op_impl(aten::flip, CPU)]
fn flip(this: &Tensor, dims: &[i64]) -> Result<Tensor> {
    let (spec, turned) = aten::flip_spec(this, dims)?;
    let mut out = spec.on(this.device())?;
    if out.geometry().count() == 0 {
        // There are tables of the other sizes, of which there may be any number.
        return Ok(out);
    }
    let axes = (0..turned.len()).map(|dim| {
        let (size, stride, to) = (this.sizes()[dim], this.strides()[dim], out.strides()[dim]);
        let from = if turned[dim] { table(size, |at| (size - 1 - at) * stride)? } else { Step::Stride(stride) };
        Ok(Axis { size, to: Step::Stride(to), from })
    });
    let axes = axes.collect::<Result<Vec<Axis>>>()?;
    along(&mut out, this, &axes)?;
    Ok(out)
}

#[op_impl(aten::roll, CPU)]
fn roll(this: &Tensor, shifts: &[i64], dims: &[i64]) -> Result<Tensor> {
    let Some(by) = aten::roll_shifts(this, shifts, dims)? else {
        let row = packed(this, this.dtype())?;
        let count = row.geometry().count();
        let rolled = rolled(&row.restride(Geometry::contiguous(&[count]))?, &[shifts[0].rem_euclid(count.max(1))])?;
        return Ok(rolled.restride(Geometry::contiguous(this.sizes()))?);
    };
    rolled(this, &by)
}

fn rolled(this: &Tensor, by: &[i64]) -> Result<Tensor> {
    let mut out = Spec::contiguous(this.dtype(), this.sizes()).on(this.device())?;
    if out.geometry().count() == 0 {
        return Ok(out);
    }
    let axes = by.iter().enumerate().map(|(dim, &by)| {
        let (size, stride, to) = (this.sizes()[dim], this.strides()[dim], out.strides()[dim]);
        let from = if by == 0 {
            Step::Stride(stride)
        } else {
            table(size, |at| (if at < by { at + (size - by) } else { at - by }) * stride)?
        };
        Ok(Axis { size, to: Step::Stride(to), from })
    });
    let axes = axes.collect::<Result<Vec<Axis>>>()?;
    along(&mut out, this, &axes)?;
    Ok(out)
}

/// The places of all positions of a dimension.
fn table(size: i64, place: impl Fn(i64) -> i64) -> Result<Step> {
    let mut places = room(usized(size))?;
    places.extend((0..size).map(place));
    Ok(Step::Table(places))
}

#[op_impl(aten::tril, CPU)]
fn tril(this: &Tensor, diagonal: i64) -> Result<Tensor> {
    triangle(this, |row, cols| row.saturating_add(diagonal).saturating_add(1).clamp(0, cols)..cols)
}

#[op_impl(aten::triu, CPU)]
fn triu(this: &Tensor, diagonal: i64) -> Result<Tensor> {
    triangle(this, |row, cols| 0..row.saturating_add(diagonal).clamp(0, cols))
}

/// Matrices with zeros in these columns of their rows.
fn triangle(this: &Tensor, zeros: impl Fn(i64, i64) -> Range<i64> + Sync) -> Result<Tensor> {
    let mut out = aten::triangle_of(this)?.on(this.device())?;
    copy(&mut out, this)?;
    let (rank, size) = (out.sizes().len(), out.dtype().size());
    let (sizes, strides) = (out.sizes().to_vec(), out.strides().to_vec());
    let (rows, cols) = (usized(sizes[rank - 2]), sizes[rank - 1]);
    if out.geometry().count() == 0 {
        return Ok(out);
    }
    // Each matrix begins at a place of its own; the rest is the same for all.
    let Some(starts) = Geometry::strided(&sizes[..rank - 2], &strides[..rank - 2], 0) else { return Ok(out) };
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
    drop(operands);
    Ok(out)
}

#[op_impl(aten::diag_embed, CPU)]
fn diag_embed(this: &Tensor, offset: i64, dim1: i64, dim2: i64) -> Result<Tensor> {
    let (spec, [a, b]) = aten::diag_embed_spec(this, offset, dim1, dim2)?;
    let mut out = spec.on(this.device())?;
    crate::factory::fill(&mut out, Scalar::Int(0))?;
    let mut strides = out.strides().to_vec();
    let start = if offset >= 0 {
        offset.saturating_mul(strides[b])
    } else {
        offset.saturating_neg().saturating_mul(strides[a])
    };
    let step = strides[a].saturating_add(strides[b]);
    strides.remove(a.max(b));
    strides.remove(a.min(b));
    strides.push(step);
    if this.geometry().count() > 0
        && let Some(diagonal) = Geometry::strided(this.sizes(), &strides, start)
    {
        copy(&mut out.restride(diagonal)?, this)?;
    }
    Ok(out)
}

#[op_impl(aten::repeat_interleave, CPU)]
fn repeat_interleave(repeats: &Tensor, output_size: Option<i64>) -> Result<Tensor> {
    let &[_] = repeats.sizes() else {
        return Err(BadArgument::rank("repeats", repeats.sizes().len(), "1").into());
    };
    if !repeats.dtype().is_integral() {
        return Err(BadArgument::dtype("repeats", repeats.dtype(), "integral").into());
    }
    let times = packed(repeats, DType::I64)?.to_vec::<i64>()?;
    if let Some(negative) = times.iter().find(|&&times| times < 0) {
        return Err(BadArgument::value("repeats", negative, "zero or more").into());
    }
    let count = times.iter().fold(0, |sum: i64, &times| sum.saturating_add(times));
    if output_size.is_some_and(|wanted| wanted != count) {
        return Err(BadArgument::value(
            "output_size",
            output_size.unwrap_or(0),
            format!("{count}, the sum of `repeats`"),
        )
        .into());
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

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(count: i64, sizes: &[i64]) -> Tensor {
        let numbers: Vec<i64> = (0..count).collect();
        Tensor::from_slice(&numbers).restride(Geometry::contiguous(sizes)).unwrap()
    }

    fn elements(tensor: &Tensor) -> Vec<i64> {
        aten::alias_copy(tensor).unwrap().to_vec::<i64>().unwrap()
    }

    #[test]
    fn a_tall_diagonal_begins_anew() {
        let mut tall = aten::zeros(&[7, 2], Some(DType::I64), None, None, None).unwrap();
        aten::fill_diagonal_(&mut tall, 1.into(), true).unwrap();
        assert_eq!(elements(&tall), [1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0]);
        aten::fill_diagonal_(&mut aten::zeros(&[0, 2], None, None, None, None).unwrap(), 1.into(), true).unwrap();
    }

    #[test]
    fn gradients_of_views_are_where_the_views_were() {
        let sizes = [2, 3];
        assert_eq!(elements(&aten::select_backward(&numbers(2, &[2]), &sizes, 1, 2).unwrap()), [0, 0, 0, 0, 0, 1]);
        let sliced = aten::slice_backward(&numbers(4, &[2, 2]), &sizes, 1, 0, 3, 2).unwrap();
        assert_eq!(elements(&sliced), [0, 0, 1, 2, 0, 3]);
        let diagonal = aten::diagonal_backward(&numbers(2, &[2]), &sizes, 1, 0, 1).unwrap();
        assert_eq!(elements(&diagonal), [0, 0, 0, 0, 0, 1]);
        let windows = aten::unfold_backward(&numbers(6, &[3, 2]), &[4], 0, 2, 1).unwrap();
        assert_eq!(elements(&windows), [0, 1 + 2, 3 + 4, 5]);
        let rows =
            aten::index_select_backward(&numbers(3, &[3]), &[4], 0, &Tensor::from_slice(&[1_i64, 1, 3])).unwrap();
        assert_eq!(elements(&rows), [0, 1, 0, 2]);
    }
}
