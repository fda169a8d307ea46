//! CUDA kernels of `eye`, `tril_indices` and `triu_indices`.
#![expect(unsafe_code, reason = "kernels are native code")]

use crate::engine::elementwise::REAL_DTYPES;
use crate::prelude::*;

kernel! {
    // SAFETY: the launch passes a tensor allocated for it, which has two elements for each of `count` entries.
    static MATRIX_KERNEL = unsafe { Kernel::new("matrix", include_str!("../../../kernels/factories/matrix.cu"), |instances| {
        instances.add_for_each_dtype("triangle_indices", &REAL_DTYPES);
    }) };
}

#[op_impl(aten::eye_m, CUDA)]
fn eye_m(_plan: &(), out: &mut Tensor, n: i64, m: i64) -> Result<()> {
    copy_into(out, &Tensor::number(0.into()))?;
    if let Some(diagonal) = Geometry::strided(&[n.min(m)], &[m.saturating_add(1)], 0) {
        copy_into(&mut out.restride(diagonal)?, &Tensor::number(1.into()))?;
    }
    Ok(())
}

define_parameters! {
    /// The kernels' `struct Triangle`: a triangle of a matrix.
    struct Triangle {
        first: i64,
        cols: i64,
        offset: i64,
        lower: bool,
    }
}

#[op_impl(aten::tril_indices, CUDA)]
fn tril_indices(_plan: &(), out: &mut Tensor, row: i64, col: i64, offset: i64) -> Result<()> {
    let first = offset.saturating_neg().clamp(0, row);
    write_triangle_indices(out, row - first, Triangle { first, cols: col, offset, lower: true })
}

#[op_impl(aten::triu_indices, CUDA)]
fn triu_indices(_plan: &(), out: &mut Tensor, row: i64, col: i64, offset: i64) -> Result<()> {
    let rows = col.saturating_sub(offset).clamp(0, row);
    write_triangle_indices(out, rows, Triangle { first: 0, cols: col, offset, lower: false })
}

fn write_triangle_indices(out: &Tensor, rows: i64, triangle: Triangle) -> Result<()> {
    let count = out.geometry().count() / 2;
    Launch::on_device_of(out)?.run_per_element(
        &MATRIX_KERNEL,
        "triangle_indices",
        &[out.dtype()],
        count,
        (count, rows, triangle, out),
    )
}
