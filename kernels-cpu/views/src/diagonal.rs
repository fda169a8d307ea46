//! Kernels of `tril` and `triu`.
#![expect(unsafe_code, reason = "the loop nest checked every offset")]

use std::ops::Range;

use dispatch_runtime::prelude::*;
use dispatch_runtime::{Geometry, operands};

use engine::allocation::to_usize;
use engine::data_movement::{BasePointer, GRAIN_SIZE, copy_elements};
use engine::elementwise::loop_nest::LoopNest;
use engine::thread_pool::parallel_for;

#[op_impl(aten::tril, CPU)]
fn tril(_plan: &(), out: &mut Tensor, this: &Tensor, diagonal: i64) -> Result<()> {
    copy_with_zeros(out, this, |row, cols| row.saturating_add(diagonal).saturating_add(1).clamp(0, cols)..cols)
}

#[op_impl(aten::triu, CPU)]
fn triu(_plan: &(), out: &mut Tensor, this: &Tensor, diagonal: i64) -> Result<()> {
    copy_with_zeros(out, this, |row, cols| 0..row.saturating_add(diagonal).clamp(0, cols))
}

/// Copies matrices, with zeros in a range of columns of each row.
fn copy_with_zeros(out: &mut Tensor, this: &Tensor, zeros: impl Fn(i64, i64) -> Range<i64> + Sync) -> Result<()> {
    copy_elements(out, this)?;
    let (rank, size) = (out.sizes().len(), out.dtype().size());
    let (sizes, strides) = (out.sizes().to_vec(), out.strides().to_vec());
    let (rows, cols) = (to_usize(sizes[rank - 2]), sizes[rank - 1]);
    if out.geometry().count() == 0 {
        return Ok(());
    }
    // Each matrix has its own offset. The strides within a matrix are the same for all.
    let Some(starts) = Geometry::strided(&sizes[..rank - 2], &strides[..rank - 2], 0) else { return Ok(()) };
    let nest = LoopNest::new(starts.sizes(), [(&starts, size)]);
    let operands = operands!(write out)?;
    let start = BasePointer(operands.written()[0].start());
    let (_, [step]) = nest.innermost_dim();
    let bytes = |place: i64| isize::try_from(place).unwrap_or(0) * size.cast_signed();
    nest.visit_rows(0, nest.element_count(), |[offset], count| {
        for matrix in 0..count {
            let offset = offset + step * matrix.cast_signed();
            parallel_for(0..rows, (GRAIN_SIZE / to_usize(cols)).max(1), |rows| {
                for row in rows {
                    let row = i64::try_from(row).unwrap_or(0);
                    let (zeros, first) = (zeros(row, cols), row * strides[rank - 2]);
                    // If the columns are contiguous, all zeros of a row are written at once.
                    let (columns, length) = if strides[rank - 1] == 1 {
                        (zeros.start..zeros.start + 1, zeros.end - zeros.start)
                    } else {
                        (zeros, 1)
                    };
                    for col in columns {
                        let to = start.at_byte_offset(offset + bytes(first + col * strides[rank - 1]));
                        // SAFETY: row and columns are below the sizes, so the elements are of `out`, which the operand holds.
                        unsafe { to.write_bytes(0, to_usize(length) * size) };
                    }
                }
            });
        }
    });
    Ok(())
}
