//! Tiled loop over operands with transposed layouts, such as a matrix and the transpose of another.
//!
//! A row of the result is a column of such an input, so a row would use one element of every cache line that it touches. The lines would be
//! evicted before the next row reads them again, and sooner if they are a power of two apart. So a few rows are computed together, and use
//! all elements of a line at once.

use std::array;
use std::ops::Range;

use super::{CallOperand, ELEMENTS_PER_BLOCK, OperandConversion, RowRunner};
use crate::elementwise::loop_nest::{LoopNest, to_isize};
use crate::elementwise::prefetch;

/// The rows of a tile: as many as a cache line has `f32` elements.
const ROWS_PER_TILE: usize = 16;
const COLUMNS_PER_TILE: usize = ELEMENTS_PER_BLOCK / ROWS_PER_TILE;
/// The bytes of a cache line.
const CACHE_LINE_BYTES: usize = 64;

/// Returns which inputs are transposed against the result; `None` if none is.
pub(super) fn transposed_inputs<const N: usize, const M: usize>(
    nest: &LoopNest<M>,
    inputs: &[CallOperand; N],
) -> Option<[bool; N]> {
    let ((length, steps), (height, across)) = (nest.innermost_dim(), nest.second_dim()?);
    if length < COLUMNS_PER_TILE || height < ROWS_PER_TILE {
        return None;
    }
    let transposed = array::from_fn(|i| {
        let OperandConversion { size, direct, .. } = inputs[i].path;
        direct && across[i + 1] == to_isize(size) && steps[i + 1].unsigned_abs() >= CACHE_LINE_BYTES
    });
    transposed.contains(&true).then_some(transposed)
}

/// Returns the number of groups of rows, and the number of elements of a group.
pub(super) fn row_group_count_and_length<const M: usize>(nest: &LoopNest<M>) -> (usize, usize) {
    let (length, height) = (nest.innermost_dim().0, nest.second_dim().map_or(1, |(height, _)| height));
    (nest.element_count() / (length * height) * height.div_ceil(ROWS_PER_TILE), length * ROWS_PER_TILE)
}

impl<const N: usize> RowRunner<'_, N> {
    /// Computes some groups of rows. The marked inputs are transposed into blocks.
    ///
    /// # Safety
    ///
    /// The safety conditions of [`run_row`](Self::run_row) hold for the elements of these groups of the operands' nest.
    pub(super) unsafe fn run_row_groups<const M: usize>(
        &mut self,
        nest: &LoopNest<M>,
        transposed: [bool; N],
        groups: Range<usize>,
    ) {
        let ((length, steps), Some((height, across))) = (nest.innermost_dim(), nest.second_dim()) else { return };
        for group in groups {
            let (outer, first) =
                (group / height.div_ceil(ROWS_PER_TILE), group % height.div_ceil(ROWS_PER_TILE) * ROWS_PER_TILE);
            let start = (outer * height + first) * length;
            nest.visit_rows(start, start + 1, |offsets, _| {
                for column in (0..length).step_by(COLUMNS_PER_TILE) {
                    let here: [isize; M] = array::from_fn(|i| offsets[i] + steps[i] * to_isize(column));
                    let (rows, columns) = (ROWS_PER_TILE.min(height - first), COLUMNS_PER_TILE.min(length - column));
                    // SAFETY: guaranteed by the caller: the tile is inside the group.
                    unsafe { self.run_tile(&here, &steps, &across, transposed, rows, columns) };
                }
            });
        }
    }

    /// # Safety
    ///
    /// The safety conditions of [`run_row`](Self::run_row) hold for `rows` rows of `columns` elements, no more than a block has room for.
    unsafe fn run_tile<const M: usize>(
        &mut self,
        offsets: &[isize; M],
        steps: &[isize; M],
        across: &[isize; M],
        transposed: [bool; N],
        rows: usize,
        columns: usize,
    ) {
        for i in (0..N).filter(|i| transposed[*i]) {
            let from = self.inputs[i].start.wrapping_offset(offsets[i + 1]);
            let to = self.blocks[i].as_mut_ptr();
            // SAFETY: guaranteed by the caller, and a block has room for `ROWS_PER_TILE` times `COLUMNS_PER_TILE` elements of any type.
            unsafe {
                match self.inputs[i].path.size {
                    4 => transpose_tile::<u32>(from, steps[i + 1], to, rows, columns),
                    8 => transpose_tile::<[u32; 2]>(from, steps[i + 1], to, rows, columns),
                    _ => transpose_tile::<[u64; 2]>(from, steps[i + 1], to, rows, columns),
                }
            }
        }
        for row in 0..rows {
            let here = array::from_fn(|i| offsets[i] + across[i] * to_isize(row));
            let transposed = array::from_fn(|i| {
                transposed[i].then(|| {
                    self.blocks[i]
                        .as_mut_ptr()
                        .wrapping_add(row * COLUMNS_PER_TILE * self.inputs[i].path.size)
                        .cast_const()
                })
            });
            // SAFETY: guaranteed by the caller, and the transposed inputs are in blocks.
            unsafe { self.run_row_with_blocks(&here, steps, columns, transposed) };
        }
    }
}

/// Copies the columns of a tile to rows of `to`.
///
/// # Safety
///
/// There are `columns` columns, `step` bytes apart, each of `rows` contiguous elements of the size of `T`. `to` has room for `rows` rows of
/// `COLUMNS_PER_TILE`.
unsafe fn transpose_tile<T: Copy>(from: *const u8, step: isize, to: *mut u8, rows: usize, columns: usize) {
    let to = to.cast::<T>();
    for column in 0..columns {
        if columns == COLUMNS_PER_TILE {
            // Prefetches the next column, which is likely transposed next. The processor does not predict strides of this length.
            prefetch::prefetch_for_reading(
                from.wrapping_offset(step * to_isize(column + COLUMNS_PER_TILE)),
                rows * size_of::<T>(),
            );
        }
        let from = from.wrapping_offset(step * to_isize(column)).cast::<T>();
        // SAFETY: guaranteed by the caller.
        let copy_element = |row: usize| unsafe { to.add(row * COLUMNS_PER_TILE + column).write(from.add(row).read()) };
        // Most tiles have `ROWS_PER_TILE` rows: a constant, so that the compiler unrolls the loop.
        if rows == ROWS_PER_TILE { (0..ROWS_PER_TILE).for_each(copy_element) } else { (0..rows).for_each(copy_element) }
    }
}

#[cfg(test)]
mod tests {
    use dispatch_runtime::{MemoryFormat, Result, Scalar, Tensor};

    /// Returns a tensor of these sizes with distinct elements, counted up from `from`.
    fn ascending_tensor(sizes: &[i64], from: f32) -> Result<Tensor> {
        let numbers: Vec<f32> = std::iter::successors(Some(from), |x| Some(x + 1.0))
            .take(usize::try_from(sizes.iter().product::<i64>()).unwrap_or(0))
            .collect();
        aten::view(&Tensor::from(numbers), sizes)
    }

    #[test]
    fn transposed_operands_give_the_results_of_contiguous_ones() -> Result<()> {
        for [batch, rows, columns] in [[1, 64, 64], [3, 17, 65], [2, 130, 200]] {
            let a = ascending_tensor(&[batch, rows, columns], 0.0)?;
            let transposed = aten::transpose_int(&ascending_tensor(&[batch, columns, rows], 0.5)?, 1, 2)?;
            let contiguous = aten::clone(&transposed, Some(MemoryFormat::Contiguous))?;
            let expected = aten::add(&a, &contiguous, Scalar::Int(2))?;
            let sum = aten::add(&a, &transposed, Scalar::Int(2))?;
            assert_eq!(*sum.read::<f32>()?, *expected.read::<f32>()?);
            let mut this = aten::clone(&a, None)?;
            aten::add_(&mut this, &transposed, Scalar::Int(2))?;
            assert_eq!(*this.read::<f32>()?, *expected.read::<f32>()?);
            let twice = aten::add(&a, &a, Scalar::Int(1))?;
            let sum = aten::add(&transposed, &twice, Scalar::Int(1))?;
            let expected = aten::add(&contiguous, &twice, Scalar::Int(1))?;
            let sum = aten::clone(&sum, Some(MemoryFormat::Contiguous))?;
            assert_eq!(*sum.read::<f32>()?, *expected.read::<f32>()?);
        }
        Ok(())
    }
}
