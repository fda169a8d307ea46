//! Loop nest over two tensors: merges dimensions, checks offsets, divides rows among threads.
#![expect(unsafe_code, reason = "the loop nest checked every offset")]

use std::cmp::Reverse;
use std::ops::Range;

use dispatch_runtime::{BadArgument, Operand, Operands, Result};

use super::{AxisOffsets, CopyAxis, ELEMENTS_PER_CACHE_LINE, GRAIN_SIZE, MIN_PARALLEL_DIM_SIZE, PREFETCH_ROW_DISTANCE};
use crate::thread_pool::{parallel_for, region_thread_count};

/// The dimensions of a copy, from outermost to innermost.
pub(super) struct CopyNest {
    axes: Vec<CopyAxis>,
    pub(super) count: usize,
}

impl CopyNest {
    pub(super) fn new(axes: &[CopyAxis]) -> Self {
        let mut merged: Vec<CopyAxis> = Vec::with_capacity(axes.len());
        for axis in axes {
            if let Some(outer) = merged.last_mut()
                && let (AxisOffsets::Stride(to), AxisOffsets::Stride(from)) = (&outer.to, &outer.from)
                && let (AxisOffsets::Stride(inner_to), AxisOffsets::Stride(inner_from)) = (&axis.to, &axis.from)
                && inner_to.checked_mul(axis.size) == Some(*to)
                && inner_from.checked_mul(axis.size) == Some(*from)
            {
                *outer = CopyAxis { size: outer.size.saturating_mul(axis.size), ..axis.clone() };
            } else if axis.size != 1 || axis.has_table() {
                merged.push(axis.clone());
            }
        }
        if merged.is_empty() {
            merged.push(CopyAxis::strided(1, 1, 1));
        }
        let sizes = axes.iter().map(|axis| usize::try_from(axis.size).unwrap_or(0));
        let count = sizes.fold(1, |count: usize, size| count.saturating_mul(size));
        Self { axes: merged, count }
    }

    pub(super) fn innermost_axis(&self) -> &CopyAxis {
        &self.axes[self.axes.len() - 1]
    }

    /// Returns an error if an offset leaves either tensor's storage.
    pub(super) fn check_bounds(operands: &Operands<'_, 1, 1>, axes: &[CopyAxis]) -> Result<()> {
        let ([to], [from]) = (operands.written(), operands.read());
        let inside = |operand: &Operand<'_>, side: &dyn Fn(&CopyAxis) -> &AxisOffsets| -> Option<bool> {
            let (mut low, mut high) = (operand.geometry().offset(), operand.geometry().offset());
            for axis in axes {
                let (least, greatest) = side(axis).offset_range(axis.size)?;
                low = low.checked_add(least)?;
                high = high.checked_add(greatest)?;
            }
            Some(operand.is_range_in_storage(low, high))
        };
        if to.dtype() == from.dtype()
            && inside(to, &|axis| &axis.to) == Some(true)
            && inside(from, &|axis| &axis.from) == Some(true)
        {
            return Ok(());
        }
        Err(BadArgument::sizes("self", from.geometry().sizes(), "sizes for which every offset is inside the storage")
            .into())
    }

    /// Returns whether positions that differ in a strided dimension are different elements of `out`, for any table. The dimensions are
    /// sorted by their steps: each step must exceed the total extent of the smaller ones. The step of a table is the greatest common
    /// divisor of its offsets.
    fn writes_are_disjoint(&self) -> bool {
        let step = |axis: &CopyAxis| match &axis.to {
            AxisOffsets::Stride(stride) => stride.unsigned_abs(),
            AxisOffsets::Table(offsets) => {
                offsets.iter().fold(0, |step, offset| greatest_common_divisor(step, offset.abs_diff(offsets[0])))
            }
        };
        let reach =
            |axis: &CopyAxis| axis.to.offset_range(axis.size).map_or(u64::MAX, |(low, high)| high.abs_diff(low));
        // A table whose offsets are all equal has no step.
        let moving = self.axes.iter().filter(|axis| axis.size > 1 && !(is_offset_table(&axis.to) && reach(axis) == 0));
        let mut steps: Vec<(u64, u64)> = moving.map(|axis| (step(axis), reach(axis))).collect();
        steps.sort_unstable();
        let mut reached = 0_u64;
        steps.into_iter().all(|(step, reach)| {
            let over = step > reached;
            reached = reached.saturating_add(reach);
            over
        })
    }

    /// Visits all rows, divided among threads. Rows that may write the same elements are visited in order by one thread.
    pub(super) fn visit_in_parallel(&self, visit: &(dyn Fn([isize; 2], Option<[isize; 2]>, usize, usize) + Sync)) {
        let sizes: Vec<usize> = self.axes.iter().map(|axis| usize::try_from(axis.size).unwrap_or(0)).collect();
        if self.count <= GRAIN_SIZE || region_thread_count() == 1 || !self.writes_are_disjoint() {
            return self.visit_rows(&sizes, 0..self.count, visit);
        }
        if !self.axes.iter().any(|axis| is_offset_table(&axis.to)) {
            return parallel_for(0..self.count, GRAIN_SIZE, |piece| self.visit_rows(&sizes, piece, visit));
        }
        let strided = (0..sizes.len()).filter(|&dim| !self.axes[dim].has_table());
        let Some(divided_dim) =
            strided.max_by_key(|&dim| (self.axes[dim].size.min(MIN_PARALLEL_DIM_SIZE), Reverse(dim)))
        else {
            return self.visit_rows(&sizes, 0..self.count, visit);
        };
        let (least, others) =
            (if divided_dim + 1 == sizes.len() { ELEMENTS_PER_CACHE_LINE } else { 1 }, self.count / sizes[divided_dim]);
        let grain = sizes[divided_dim].div_ceil(region_thread_count()).max(GRAIN_SIZE / others).max(least);
        parallel_for(0..sizes[divided_dim], grain, |piece| {
            let mut sizes = sizes.clone();
            sizes[divided_dim] = piece.len();
            let (to, from) =
                (self.axes[divided_dim].to.offset_at(piece.start), self.axes[divided_dim].from.offset_at(piece.start));
            let moved = |[to_offset, from_offset]: [isize; 2]| [to + to_offset, from + from_offset];
            self.visit_rows(&sizes, 0..sizes.iter().product(), &|offsets, next, position, count| {
                visit(moved(offsets), next.map(moved), position, count);
            });
        });
    }

    /// Visits the rows that contain `elements`, counted in row-major order of `sizes`. `visit` gets the two offsets of the row's start,
    /// those of a later row to prefetch if a table leads there, the first position in the row, and the number of elements.
    fn visit_rows(
        &self,
        sizes: &[usize],
        elements: Range<usize>,
        visit: &dyn Fn([isize; 2], Option<[isize; 2]>, usize, usize),
    ) {
        let inner = sizes.len() - 1;
        let table_dim = inner.checked_sub(1).filter(|&dim| self.axes[dim].has_table());
        let mut position = vec![0; sizes.len()];
        let mut rest = elements.start;
        for dim in (0..=inner).rev() {
            position[dim] = rest % sizes[dim];
            rest /= sizes[dim];
        }
        let mut done = elements.start;
        while done < elements.end {
            let (mut to, mut from) = (0, 0);
            for (axis, &position) in self.axes[..inner].iter().zip(&position) {
                to += axis.to.offset_at(position);
                from += axis.from.offset_at(position);
            }
            let count = (sizes[inner] - position[inner]).min(elements.end - done);
            let next = table_dim.filter(|&dim| position[dim] + PREFETCH_ROW_DISTANCE < sizes[dim]).map(|dim| {
                let axis = &self.axes[dim];
                let step = |step: &AxisOffsets| {
                    step.offset_at(position[dim] + PREFETCH_ROW_DISTANCE) - step.offset_at(position[dim])
                };
                [to + step(&axis.to), from + step(&axis.from)]
            });
            visit([to, from], next, position[inner], count);
            done += count;
            position[inner] = 0;
            for dim in (0..inner).rev() {
                position[dim] += 1;
                if position[dim] < sizes[dim] {
                    break;
                }
                position[dim] = 0;
            }
        }
    }
}

pub(super) fn is_offset_table(step: &AxisOffsets) -> bool {
    matches!(step, AxisOffsets::Table(_))
}

/// Returns the greatest common divisor; the other value if one of them is zero.
fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Combines a part of a row with elements of the source: `f` gets the present and the new element.
///
/// # Safety
///
/// The elements that the axis reaches are inside two blocks of memory that do not overlap.
pub(super) unsafe fn combine_row_part<W: Copy>(
    to: *mut W,
    from: *const W,
    axis: &CopyAxis,
    position: usize,
    count: usize,
    f: &impl Fn(W, W) -> W,
) {
    // SAFETY: guaranteed by the caller.
    let put = |to: *mut W, from: *const W| unsafe { to.write(f(to.read(), from.read())) };
    match (&axis.to, &axis.from) {
        (AxisOffsets::Stride(1), AxisOffsets::Stride(1)) => {
            // SAFETY: guaranteed by the caller.
            unsafe {
                let to = std::slice::from_raw_parts_mut(to.add(position), count);
                combine_contiguous(to, std::slice::from_raw_parts(from.add(position), count), f);
            }
        }
        (AxisOffsets::Stride(1), AxisOffsets::Table(offsets)) => {
            for (i, &offset) in (position..).zip(&offsets[position..position + count]) {
                put(to.wrapping_add(i), from.wrapping_offset(isize::try_from(offset).unwrap_or(0)));
            }
        }
        (to_step, from_step) => {
            for i in position..position + count {
                put(to.wrapping_offset(to_step.offset_at(i)), from.wrapping_offset(from_step.offset_at(i)));
            }
        }
    }
}

/// Combines contiguous elements. With slices, the compiler turns a plain copy into a `memcpy`.
#[inline(never)]
fn combine_contiguous<W: Copy>(to: &mut [W], from: &[W], f: &impl Fn(W, W) -> W) {
    for (to, &from) in to.iter_mut().zip(from) {
        *to = f(*to, from);
    }
}

#[cfg(test)]
mod tests {
    use super::super::combine_along_axes;
    use super::*;
    use crate::thread_pool::{num_threads, set_num_threads};
    use dispatch_runtime::DType;

    /// Adds ones along `axes` to zeros and returns the sums.
    fn add_ones_along_axes(length: i64, axes: &[CopyAxis]) -> Vec<i64> {
        let count = axes.iter().map(|axis| axis.size).product();
        let mut out = aten::zeros(&[length], Some(DType::I64), None, None, None).unwrap();
        let ones = aten::ones(&[count], Some(DType::I64), None, None, None).unwrap();
        combine_along_axes::<i64>(&mut out, &ones, axes, |present, new_element| present + new_element).unwrap();
        out.to_vec().unwrap()
    }

    #[test]
    fn elements_that_several_positions_write_belong_to_one_thread() {
        set_num_threads(num_threads().max(3));
        let many = 200_000;
        let strided = CopyAxis::strided;
        let listed = |to: Vec<i64>, from: i64| CopyAxis {
            size: i64::try_from(to.len()).unwrap(),
            to: AxisOffsets::Table(to),
            from: AxisOffsets::Stride(from),
        };
        assert_eq!(add_ones_along_axes(1, &[strided(many, 0, 1)]), [many]);
        assert_eq!(add_ones_along_axes(2, &[strided(many, 0, 2), strided(2, 1, 1)]), [many; 2]);
        let shifted = add_ones_along_axes(many + 2, &[listed(vec![0, 1, 2], many), strided(many, 1, 1)]);
        assert!(shifted[2..shifted.len() - 2].iter().all(|&sum| sum == 3));
        assert_eq!((shifted[0], shifted[1]), (1, 2));
        // Several rows of the result, and one row to which ones are added twice.
        let rows = add_ones_along_axes(3 * many, &[listed(vec![0, 2 * many, 0], many), strided(many, 1, 1)]);
        let [first, second, third] = [0, 1, 2].map(|row| &rows[row * 200_000..][..200_000]);
        assert!(first.iter().all(|&x| x == 2) && second.iter().all(|&x| x == 0) && third.iter().all(|&x| x == 1));
    }

    #[test]
    fn writes_are_disjoint_if_each_stride_exceeds_the_smaller_extents() {
        let disjoint = |axes: Vec<(i64, AxisOffsets)>| {
            let axis = |(size, to)| CopyAxis { size, to, from: AxisOffsets::Stride(1_000_003) };
            CopyNest::new(&axes.into_iter().map(axis).collect::<Vec<_>>()).writes_are_disjoint()
        };
        let table = |offsets: &[i64]| AxisOffsets::Table(offsets.to_vec());
        assert!(!disjoint(vec![(4, AxisOffsets::Stride(10)), (3, table(&[0, 20, 100])), (10, AxisOffsets::Stride(1))]));
        assert!(disjoint(vec![(3, table(&[40, 0, 40])), (4, AxisOffsets::Stride(10)), (10, AxisOffsets::Stride(1))]));
        assert!(disjoint(vec![(2, AxisOffsets::Stride(100)), (3, table(&[7, 27, 47])), (10, AxisOffsets::Stride(-1))]));
        assert!(disjoint(vec![(1, table(&[7])), (10, AxisOffsets::Stride(3))]));
        assert!(
            !disjoint(vec![(10, AxisOffsets::Stride(0))])
                && !disjoint(vec![(3, AxisOffsets::Stride(1)), (3, AxisOffsets::Stride(2))])
        );
        assert!(disjoint(vec![(3, AxisOffsets::Stride(1)), (3, AxisOffsets::Stride(3))]));
    }
}
