//! Kernels of `eye`, `tril_indices` and `triu_indices`.

use std::ops::Range;

use dispatch_runtime::Geometry;
use dispatch_runtime::prelude::*;

use engine::allocation::{to_usize, try_with_capacity};
use engine::fill::{fill, fill_from_slice};

#[op_impl(aten::eye_m, CPU)]
fn eye_m(_plan: &(), out: &mut Tensor, n: i64, m: i64) -> Result<()> {
    fill(out, Scalar::Int(0))?;
    if let Some(diagonal) = Geometry::strided(&[n.min(m)], &[m.saturating_add(1)], 0) {
        engine::data_movement::copy_elements(&mut out.restride(diagonal)?, &Tensor::from_slice(&[1_u8]))?;
    }
    Ok(())
}

#[op_impl(aten::tril_indices, CPU)]
fn tril_indices(_plan: &(), out: &mut Tensor, row: i64, col: i64, offset: i64) -> Result<()> {
    let first = offset.saturating_neg().clamp(0, row);
    write_triangle_indices(out, first..row, col, |r| 0..r.saturating_add(offset).saturating_add(1).clamp(0, col))
}

#[op_impl(aten::triu_indices, CPU)]
fn triu_indices(_plan: &(), out: &mut Tensor, row: i64, col: i64, offset: i64) -> Result<()> {
    let end = col.saturating_sub(offset).clamp(0, row);
    write_triangle_indices(out, 0..end, col, |r| r.saturating_add(offset).clamp(0, col)..col)
}

/// Writes the row and column indices of the elements of a triangle. `rows` are the rows with elements, unless `width` is zero.
fn write_triangle_indices(
    out: &mut Tensor,
    rows: Range<i64>,
    width: i64,
    columns: impl Fn(i64) -> Range<i64>,
) -> Result<()> {
    let mut indices = try_with_capacity::<i64>(to_usize(out.geometry().count()))?;
    let rows = if width == 0 { 0..0 } else { rows };
    rows.clone().for_each(|row| indices.extend(columns(row).map(|_| row)));
    rows.for_each(|row| indices.extend(columns(row)));
    fill_from_slice(out, &indices)
}
