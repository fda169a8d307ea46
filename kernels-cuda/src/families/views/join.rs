//! Tensors joined, repeated and turned.

use aten::{Joined, Roll};

use crate::engine::data_movement::{MOVES, Side, joined, moved, word};
use crate::engine::walk::Steps;
use crate::prelude::*;

#[op_impl(aten::cat, CUDA)]
fn cat(plan: &Joined<'_>, out: &mut Tensor) -> Result<()> {
    joined(out, &plan.parts, plan.dim)
}

#[op_impl(aten::repeat, CUDA)]
fn repeat(plan: &usize, out: &mut Tensor, this: &Tensor, repeats: &[i64]) -> Result<()> {
    let (mut sizes, mut to, mut from) = (Dims::new(), Dims::new(), Dims::new());
    for (dim, &times) in repeats.iter().enumerate() {
        let stride = out.strides()[dim];
        let (size, own) = match dim.checked_sub(*plan) {
            Some(own) => (this.sizes()[own], this.strides()[own]),
            None => (1, 0),
        };
        sizes.extend([times, size]);
        to.extend([stride.saturating_mul(size), stride]);
        from.extend([0, own]);
    }
    let launch = Launch::on(out)?;
    let element = element_size(this);
    let side = |at, strides: Dims| Side { at, steps: strides.iter().map(|stride| stride * element).collect() };
    moved(launch, this.dtype(), &sizes, &side(launch.place(out)?, to), &side(launch.place(this)?, from))
}

#[op_impl(aten::flip, CUDA)]
fn flip(plan: &Vec<bool>, out: &mut Tensor, this: &Tensor) -> Result<()> {
    let launch = Launch::on(out)?;
    let mut from = Side::of(launch, this, this.sizes())?;
    for dim in (0..plan.len()).filter(|&dim| plan[dim] && this.sizes()[dim] > 0) {
        let step = &mut from.steps[dim];
        from.at = from.at.offset((*step * (this.sizes()[dim] - 1)).cast_unsigned());
        *step = -*step;
    }
    moved(launch, this.dtype(), this.sizes(), &Side::of(launch, out, out.sizes())?, &from)
}

#[op_impl(aten::roll, CUDA)]
fn roll(plan: &Roll, out: &mut Tensor, this: &Tensor) -> Result<()> {
    match plan {
        Roll::Dims(by) => rolled(out, this, by),
        Roll::Flat(by) => {
            let (this, row) = (packed(this, this.dtype())?, Geometry::contiguous(&[out.geometry().count()]));
            let this = this.restride(row.clone().at(this.geometry().offset()))?;
            rolled(&mut out.restride(row.at(out.geometry().offset()))?, &this, &[*by])
        }
    }
}

/// The last of a dimension before its first, for each dimension that moves.
fn rolled(out: &mut Tensor, this: &Tensor, by: &[i64]) -> Result<()> {
    let mut from = this.clone();
    let dims: Vec<usize> = (0..by.len()).filter(|&dim| by[dim] != 0).collect();
    let Some(&last) = dims.last() else { return write(out, this) };
    for dim in dims {
        let (at, by) = (i64::try_from(dim).unwrap_or(0), by[dim]);
        let stays = from.sizes()[dim] - by;
        let parts = [aten::narrow(&from, at, stays, by)?, aten::narrow(&from, at, 0, stays)?];
        let to = if dim == last { out.clone() } else { out.fresh_like(out.dtype())? };
        joined(&to, &[&parts[0], &parts[1]], dim)?;
        from = to;
    }
    Ok(())
}

#[op_impl(aten::tril, CUDA)]
fn tril(_plan: &(), out: &mut Tensor, this: &Tensor, diagonal: i64) -> Result<()> {
    triangle(out, this, diagonal, true)
}

#[op_impl(aten::triu, CUDA)]
fn triu(_plan: &(), out: &mut Tensor, this: &Tensor, diagonal: i64) -> Result<()> {
    triangle(out, this, diagonal, false)
}

fn triangle(out: &Tensor, this: &Tensor, diagonal: i64, lower: bool) -> Result<()> {
    if out.geometry().count() == 0 {
        return Ok(());
    }
    let (launch, rank) = (Launch::on(out)?, out.sizes().len());
    let (to, from) = (Side::of(launch, out, out.sizes())?, Side::of(launch, this, out.sizes())?);
    // Rows and columns are counted as if they were places.
    let counted = |counted: usize| (0..rank).map(|dim| i64::from(dim == counted)).collect::<Dims>();
    let steps = Steps::new(out.sizes(), &[to.steps, from.steps, counted(rank - 2), counted(rank - 1)]);
    for (walk, count, offsets) in steps.parts() {
        let (row, col) = (offsets[2].cast_signed(), offsets[3].cast_signed());
        let arguments = (count, to.at.offset(offsets[0]), from.at.offset(offsets[1]), walk, row, col, diagonal, lower);
        launch.cover(&MOVES, "triangle", &[word(this.dtype().size())], count.into(), arguments)?;
    }
    Ok(())
}
