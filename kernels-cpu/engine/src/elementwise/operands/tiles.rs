//! Tiled loop over operands with transposed layouts, such as a matrix and the transpose of another.
//!
//! A row of the result is a column of such an input, so a row would use one element of every cache line that it touches. The lines would be
//! evicted before the next row reads them again, and sooner if they are a power of two apart. So a few rows are computed together, and use
//! all elements of a line at once.

use std::array;
use std::ops::Range;

use super::{BLOCK, ElementPath, Lane, Walker};
use crate::elementwise::loop_nest::{LoopNest, bytes_of};
use crate::elementwise::prefetch;

/// The rows of a tile: as many as a cache line has `f32` elements.
const ROWS: usize = 16;
const COLUMNS: usize = BLOCK / ROWS;
/// The bytes of a cache line.
const LINE: usize = 64;

/// Returns which inputs are transposed against the result; `None` if none is.
pub(super) fn transposed_inputs<const N: usize, const M: usize>(
    nest: &LoopNest<M>,
    inputs: &[Lane; N],
) -> Option<[bool; N]> {
    let ((length, steps), (height, across)) = (nest.row(), nest.across()?);
    if length < COLUMNS || height < ROWS {
        return None;
    }
    let turned = array::from_fn(|i| {
        let ElementPath { size, direct, .. } = inputs[i].way;
        direct && across[i + 1] == bytes_of(size) && steps[i + 1].unsigned_abs() >= LINE
    });
    turned.contains(&true).then_some(turned)
}

/// Returns the number of groups of rows, and the number of elements of a group.
pub(super) fn groups<const M: usize>(nest: &LoopNest<M>) -> (usize, usize) {
    let (length, height) = (nest.row().0, nest.across().map_or(1, |(height, _)| height));
    (nest.count() / (length * height) * height.div_ceil(ROWS), length * ROWS)
}

impl<const N: usize> Walker<'_, N> {
    /// Computes some of the groups. The marked inputs are transposed into blocks.
    ///
    /// # Safety
    ///
    /// The safety conditions of [`row`](Self::row) hold for the elements of these groups of the operands' nest.
    pub(super) unsafe fn tiled<const M: usize>(&mut self, nest: &LoopNest<M>, turned: [bool; N], groups: Range<usize>) {
        let ((length, steps), Some((height, across))) = (nest.row(), nest.across()) else { return };
        for group in groups {
            let (outer, first) = (group / height.div_ceil(ROWS), group % height.div_ceil(ROWS) * ROWS);
            let start = (outer * height + first) * length;
            nest.rows(start, start + 1, |offsets, _| {
                for column in (0..length).step_by(COLUMNS) {
                    let here: [isize; M] = array::from_fn(|i| offsets[i] + steps[i] * bytes_of(column));
                    let (rows, columns) = (ROWS.min(height - first), COLUMNS.min(length - column));
                    // SAFETY: guaranteed by the caller: the tile is inside the group.
                    unsafe { self.tile(&here, &steps, &across, turned, rows, columns) };
                }
            });
        }
    }

    /// # Safety
    ///
    /// The safety conditions of [`row`](Self::row) hold for `rows` rows of `columns` elements, no more than a block has room for.
    unsafe fn tile<const M: usize>(
        &mut self,
        offsets: &[isize; M],
        steps: &[isize; M],
        across: &[isize; M],
        turned: [bool; N],
        rows: usize,
        columns: usize,
    ) {
        for i in (0..N).filter(|i| turned[*i]) {
            let from = self.inputs[i].start.wrapping_offset(offsets[i + 1]);
            let to = self.blocks[i].start();
            // SAFETY: guaranteed by the caller, and a block has room for `ROWS` times `COLUMNS` elements of any type.
            unsafe {
                match self.inputs[i].way.size {
                    4 => turn::<u32>(from, steps[i + 1], to, rows, columns),
                    8 => turn::<[u32; 2]>(from, steps[i + 1], to, rows, columns),
                    _ => turn::<[u64; 2]>(from, steps[i + 1], to, rows, columns),
                }
            }
        }
        for row in 0..rows {
            let here = array::from_fn(|i| offsets[i] + across[i] * bytes_of(row));
            let turned = array::from_fn(|i| {
                turned[i]
                    .then(|| self.blocks[i].start().wrapping_add(row * COLUMNS * self.inputs[i].way.size).cast_const())
            });
            // SAFETY: guaranteed by the caller, and the transposed inputs are in blocks.
            unsafe { self.row_with(&here, steps, columns, turned) };
        }
    }
}

/// Transposes columns to rows.
///
/// # Safety
///
/// There are `columns` columns, `step` bytes apart, each of `rows` contiguous elements of the size of `T`. `to` has room for `rows` rows of
/// `COLUMNS`.
unsafe fn turn<T: Copy>(from: *const u8, step: isize, to: *mut u8, rows: usize, columns: usize) {
    let to = to.cast::<T>();
    for column in 0..columns {
        if columns == COLUMNS {
            // The next column is likely transposed next. The processor does not predict strides of this length.
            prefetch::for_reading(from.wrapping_offset(step * bytes_of(column + COLUMNS)), rows * size_of::<T>());
        }
        let from = from.wrapping_offset(step * bytes_of(column)).cast::<T>();
        // SAFETY: guaranteed by the caller.
        let bring = |row: usize| unsafe { to.add(row * COLUMNS + column).write(from.add(row).read()) };
        // Most tiles have `ROWS` rows: a constant, so that the compiler unrolls the loop.
        if rows == ROWS { (0..ROWS).for_each(bring) } else { (0..rows).for_each(bring) }
    }
}

#[cfg(test)]
mod tests {
    use dispatch_runtime::{MemoryFormat, Result, Scalar, Tensor};

    /// Returns a tensor of these sizes with distinct elements, counted up from `from`.
    fn counted(sizes: &[i64], from: f32) -> Result<Tensor> {
        let numbers: Vec<f32> = std::iter::successors(Some(from), |x| Some(x + 1.0))
            .take(usize::try_from(sizes.iter().product::<i64>()).unwrap_or(0))
            .collect();
        aten::view(&Tensor::from(numbers), sizes)
    }

    #[test]
    fn a_transposed_operand_meets_the_elements_it_should() -> Result<()> {
        for [batch, rows, columns] in [[1, 64, 64], [3, 17, 65], [2, 130, 200]] {
            let a = counted(&[batch, rows, columns], 0.0)?;
            let turned = aten::transpose_int(&counted(&[batch, columns, rows], 0.5)?, 1, 2)?;
            let straight = aten::clone(&turned, Some(MemoryFormat::Contiguous))?;
            let expected = aten::add(&a, &straight, Scalar::Int(2))?;
            let sum = aten::add(&a, &turned, Scalar::Int(2))?;
            assert_eq!(*sum.read::<f32>()?, *expected.read::<f32>()?);
            let mut this = aten::clone(&a, None)?;
            aten::add_(&mut this, &turned, Scalar::Int(2))?;
            assert_eq!(*this.read::<f32>()?, *expected.read::<f32>()?);
            let twice = aten::add(&a, &a, Scalar::Int(1))?;
            let sum = aten::add(&turned, &twice, Scalar::Int(1))?;
            let expected = aten::add(&straight, &twice, Scalar::Int(1))?;
            let sum = aten::clone(&sum, Some(MemoryFormat::Contiguous))?;
            assert_eq!(*sum.read::<f32>()?, *expected.read::<f32>()?);
        }
        Ok(())
    }
}
