//! Tensors joined, repeated and turned.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{Dims, Geometry, Spec};

use crate::copying::{packed, write};
use crate::launch::Launch;
use crate::machine::Grid;
use crate::moves::{MOVES, Side, joined, moved, word};
use crate::walk::Steps;

#[op_impl(aten::cat, CUDA)]
fn cat(tensors: &[Tensor], dim: i64) -> Result<Tensor> {
    let (spec, dim) = aten::cat_spec(tensors, dim)?;
    let device = tensors.first().map_or_else(|| crate::gpu::cuda(0), Tensor::device);
    let out = spec.on(device)?;
    let parts: Vec<&Tensor> = tensors.iter().filter(|tensor| !aten::is_nothing(tensor)).collect();
    joined(&out, &parts, dim)?;
    Ok(out)
}

#[op_impl(aten::repeat, CUDA)]
fn repeat(this: &Tensor, repeats: &[i64]) -> Result<Tensor> {
    let out = aten::repeat_spec(this, repeats)?.on(this.device())?;
    let new = repeats.len() - this.sizes().len();
    let (mut sizes, mut to, mut from) = (Dims::new(), Dims::new(), Dims::new());
    for (dim, &times) in repeats.iter().enumerate() {
        let stride = out.strides()[dim];
        let (size, own) = match dim.checked_sub(new) {
            Some(own) => (this.sizes()[own], this.strides()[own]),
            None => (1, 0),
        };
        sizes.extend([times, size]);
        to.extend([stride.saturating_mul(size), stride]);
        from.extend([0, own]);
    }
    let launch = Launch::on(&out)?;
    let element = i64::try_from(this.dtype().size()).unwrap_or(1);
    let side = |at, strides: Dims| Side { at, steps: strides.iter().map(|stride| stride * element).collect() };
    moved(launch, this.dtype(), &sizes, &side(launch.place(&out)?, to), &side(launch.place(this)?, from))?;
    Ok(out)
}

#[op_impl(aten::flip, CUDA)]
fn flip(this: &Tensor, dims: &[i64]) -> Result<Tensor> {
    let (spec, turned) = aten::flip_spec(this, dims)?;
    let out = spec.on(this.device())?;
    let launch = Launch::on(&out)?;
    let mut from = Side::of(launch, this, this.sizes())?;
    for dim in (0..turned.len()).filter(|&dim| turned[dim] && this.sizes()[dim] > 0) {
        let step = &mut from.steps[dim];
        from.at = from.at.offset((*step * (this.sizes()[dim] - 1)).cast_unsigned());
        *step = -*step;
    }
    moved(launch, this.dtype(), this.sizes(), &Side::of(launch, &out, out.sizes())?, &from)?;
    Ok(out)
}

#[op_impl(aten::roll, CUDA)]
fn roll(this: &Tensor, shifts: &[i64], dims: &[i64]) -> Result<Tensor> {
    let Some(by) = aten::roll_shifts(this, shifts, dims)? else {
        let row = packed(this, this.dtype())?;
        let count = row.geometry().count();
        let row = row.restride(Geometry::contiguous(&[count]).at(row.geometry().offset()))?;
        return Ok(rolled(&row, &[shifts[0].rem_euclid(count.max(1))])?.restride(Geometry::contiguous(this.sizes()))?);
    };
    rolled(this, &by)
}

/// The last of a dimension before its first, for each dimension that moves.
fn rolled(this: &Tensor, by: &[i64]) -> Result<Tensor> {
    let mut rolled: Option<Tensor> = None;
    for (dim, &by) in by.iter().enumerate().filter(|(_, by)| **by != 0) {
        let from = rolled.as_ref().unwrap_or(this);
        let (at, stays) = (i64::try_from(dim).unwrap_or(0), from.sizes()[dim] - by);
        let parts = [aten::narrow(from, at, stays, by)?, aten::narrow(from, at, 0, stays)?];
        let out = Spec::contiguous(this.dtype(), this.sizes()).on(this.device())?;
        joined(&out, &[&parts[0], &parts[1]], dim)?;
        rolled = Some(out);
    }
    rolled.map_or_else(|| crate::copying::copied(this, this.dtype()), Ok)
}

#[op_impl(aten::tril, CUDA)]
fn tril(this: &Tensor, diagonal: i64) -> Result<Tensor> {
    triangle(this, diagonal, true)
}

#[op_impl(aten::triu, CUDA)]
fn triu(this: &Tensor, diagonal: i64) -> Result<Tensor> {
    triangle(this, diagonal, false)
}

fn triangle(this: &Tensor, diagonal: i64, lower: bool) -> Result<Tensor> {
    let out = aten::triangle_of(this)?.on(this.device())?;
    if out.geometry().count() == 0 {
        return Ok(out);
    }
    let (launch, rank) = (Launch::on(&out)?, out.sizes().len());
    let (to, from) = (Side::of(launch, &out, out.sizes())?, Side::of(launch, this, out.sizes())?);
    // Rows and columns are counted as if they were places.
    let counted = |counted: usize| (0..rank).map(|dim| i64::from(dim == counted)).collect::<Dims>();
    let steps = Steps::new(out.sizes(), &[to.steps, from.steps, counted(rank - 2), counted(rank - 1)]);
    for (walk, count, offsets) in steps.parts() {
        let (row, col) = (offsets[2].cast_signed(), offsets[3].cast_signed());
        let arguments = (count, to.at.offset(offsets[0]), from.at.offset(offsets[1]), walk, row, col, diagonal, lower);
        launch.run(&MOVES, "triangle", &[word(this.dtype().size())], Grid::cover(count.into()), arguments)?;
    }
    Ok(out)
}

#[op_impl(aten::diag_embed, CUDA)]
fn diag_embed(this: &Tensor, offset: i64, dim1: i64, dim2: i64) -> Result<Tensor> {
    let (spec, [a, b]) = aten::diag_embed_spec(this, offset, dim1, dim2)?;
    let mut out = spec.on(this.device())?;
    write(&mut out, &Tensor::number(0.into()))?;
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
        write(&mut out.restride(diagonal)?, this)?;
    }
    Ok(out)
}
