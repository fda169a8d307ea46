//! The loop nest of a fold.
//!
//! Results are computed in units: neighbours along the innermost kept dimension, as many as fit the cache. If there are few units, the
//! reduced elements are divided, too, and the totals of the parts are merged in order. The division does not depend on the number of
//! threads, so results do not either.
#![expect(unsafe_code, reason = "lines and units divided among threads")]

use dispatch_runtime::Operand;
use smallvec::SmallVec;

use super::fold::{ErasedFold, MAX_FOLDED_COLUMNS};
use super::to_isize;
use crate::convert::{ConvertFn, conversion_function};
use crate::thread_pool::{self, DisjointLines};

/// The fewest elements that are worth a thread.
const GRAIN_SIZE: usize = 32 * 1024;
/// The number of pieces of work that is enough for all threads. If there are fewer units, they are divided into parts.
const MAX_PIECES: usize = 32;
/// The most elements that are converted at a time: enough that lanes are seldom restarted, and no more than the L1 cache holds.
const ELEMENTS_PER_BLOCK: [usize; 2] = [4 * MAX_FOLDED_COLUMNS, 8 * MAX_FOLDED_COLUMNS];
/// The fewest neighbouring results that are folded row by row. Shorter rows would be too slow.
const MIN_ROW_WIDTH: usize = 8;

/// A kept dimension: size, stride of the input in bytes, and stride of the results in bytes.
type KeptDim = (usize, isize, isize);
/// A reduced dimension: size, and stride of the input in bytes.
type ReducedDim = (usize, isize);

struct FoldNest<'a> {
    fold: &'a dyn ErasedFold,
    kept_dims: SmallVec<[KeptDim; 4]>,
    reduced_dims: SmallVec<[ReducedDim; 4]>,
    from: *const u8,
    to: *mut u8,
    element_size: usize,
    /// Whether the input's elements already have the type that the fold computes in.
    direct: bool,
    load: ConvertFn,
    store: ConvertFn,
    /// Whether the innermost dimension is kept, so that rows are added to a row of totals.
    folds_rows: bool,
    /// The most results of a unit.
    unit_results: usize,
    /// The number of elements that are converted at a time.
    block_elements: usize,
}

// SAFETY: the operands that it points into are held for as long as the nest, and threads write different units.
unsafe impl Sync for FoldNest<'_> {}

/// Reduces the dimensions of `from` that are marked in `reduced_dims`. The others are the dimensions of `to`, in their order; `to` is
/// contiguous.
///
/// # Panics
///
/// Panics if the sizes of `to` do not match, or if `to` is not contiguous.
pub(super) fn fold_dims(from: &Operand<'_>, reduced_dims: &[bool], to: &Operand<'_>, fold: &dyn ErasedFold) {
    let results = to.geometry().count();
    let own = from.geometry().sizes();
    let kept = own
        .iter()
        .zip(reduced_dims)
        .filter(|(_, is_reduced)| !**is_reduced)
        .fold(1, |count: i64, (&size, _)| count.saturating_mul(size));
    assert!(
        own.len() == reduced_dims.len() && kept == results && to.geometry().is_contiguous(),
        "sizes {own:?} without the dimensions {reduced_dims:?} are not the sizes {:?} of a contiguous result",
        to.geometry().sizes()
    );
    if results == 0 {
        return;
    }
    let (element_size, result) = (from.dtype().size(), to.dtype().size());
    let (kept, reduced) = split_kept_and_reduced_dims(from, reduced_dims, element_size, result);
    let folds_rows = match (kept.first(), reduced.first()) {
        (Some(kept), Some(reduced_dims)) => kept.0 >= MIN_ROW_WIDTH && kept.1.abs() < reduced_dims.1.abs(),
        _ => false,
    };
    let mut nest = FoldNest {
        fold,
        from: from.start().cast_const(),
        to: to.start(),
        element_size,
        direct: from.dtype() == fold.input_dtype(),
        load: conversion_function(from.dtype(), fold.input_dtype()),
        store: conversion_function(fold.output_dtype(), to.dtype()),
        folds_rows,
        unit_results: 1,
        block_elements: 1,
        kept_dims: kept,
        reduced_dims: reduced,
    };
    let count = nest.reduced_element_count();
    let inner = nest.kept_dims.first().map_or(1, |kept| kept.0);
    nest.unit_results = if folds_rows {
        inner.min(MAX_FOLDED_COLUMNS)
    } else {
        (GRAIN_SIZE / count.max(1)).clamp(1, MAX_FOLDED_COLUMNS).min(inner)
    };
    let run =
        nest.reduced_dims.first().map_or(1, |dim| dim.0).saturating_mul(if folds_rows { nest.unit_results } else { 1 });
    let step =
        if folds_rows { nest.kept_dims.first().map(|kept| kept.1) } else { nest.reduced_dims.first().map(|dim| dim.1) };
    // A block for results is needed even if the elements are used in place.
    let passing = if nest.direct && step.is_none_or(|step| step == to_isize(element_size)) {
        1
    } else {
        run.min(ELEMENTS_PER_BLOCK[usize::from(folds_rows)])
    };
    nest.block_elements = passing.max(nest.unit_results);
    nest.run(count);
}

fn split_kept_and_reduced_dims(
    from: &Operand<'_>,
    reduced_dims: &[bool],
    element_size: usize,
    result: usize,
) -> (SmallVec<[KeptDim; 4]>, SmallVec<[ReducedDim; 4]>) {
    let (mut kept, mut reduced) = (SmallVec::<[KeptDim; 4]>::new(), SmallVec::<[ReducedDim; 4]>::new());
    let mut along = to_isize(result);
    let geometry = from.geometry();
    for dim in (0..geometry.rank()).rev() {
        let size = usize::try_from(geometry.sizes()[dim]).unwrap_or(0);
        let stride = isize::try_from(geometry.strides()[dim]).unwrap_or(0).wrapping_mul(to_isize(element_size));
        if reduced_dims[dim] {
            if size != 1 {
                reduced.push((size, stride));
            }
        } else {
            if size != 1 {
                kept.push((size, stride, along));
            }
            along = along.wrapping_mul(to_isize(size));
        }
    }
    kept.sort_by_key(|kept| kept.1.abs());
    reduced.sort_by_key(|dim| dim.1.abs());
    kept.dedup_by(|outer, inner| {
        let one =
            inner.1.wrapping_mul(to_isize(inner.0)) == outer.1 && inner.2.wrapping_mul(to_isize(inner.0)) == outer.2;
        inner.0 *= if one { outer.0 } else { 1 };
        one
    });
    reduced.dedup_by(|outer, inner| {
        let one = inner.1.wrapping_mul(to_isize(inner.0)) == outer.1;
        inner.0 *= if one { outer.0 } else { 1 };
        one
    });
    (kept, reduced)
}

impl FoldNest<'_> {
    fn reduced_element_count(&self) -> usize {
        self.reduced_dims.iter().fold(1, |count: usize, dim| count.saturating_mul(dim.0))
    }

    fn run(&self, count: usize) {
        let (inner, _, _) = self.innermost_kept_dim();
        let blocks = inner.div_ceil(self.unit_results);
        let units = blocks * self.kept_dims.iter().skip(1).map(|kept| kept.0).product::<usize>();
        let longest = (0..self.reduced_dims.len()).max_by_key(|&dim| self.reduced_dims[dim].0).unwrap_or(0);
        let size = self.reduced_dims.get(longest).map_or(1, |dim| dim.0);
        let parts =
            (count.saturating_mul(self.unit_results) / GRAIN_SIZE).min(size).min(MAX_PIECES.div_ceil(units.max(1)));
        if parts < 2 {
            let grain = (GRAIN_SIZE / count.max(1).saturating_mul(self.unit_results)).max(1);
            return thread_pool::parallel_for(0..units, grain, |units| {
                let mut scratch = FoldBuffers::new(self);
                for unit in units {
                    self.fold_result_group(unit, (longest, 0..size), &mut scratch);
                    self.write_result_group(unit, &mut scratch);
                }
            });
        }
        // Parts begin at multiples of `MAX_FOLDED_COLUMNS` elements, where lanes are restarted in any case.
        let mut step = size.div_ceil(parts);
        if step >= 2 * MAX_FOLDED_COLUMNS {
            step = step.next_multiple_of(MAX_FOLDED_COLUMNS);
        }
        let parts = size.div_ceil(step);
        let mut scratches: Vec<Option<FoldBuffers>> = (0..units * parts).map(|_| None).collect();
        DisjointLines::new(&mut scratches, 1).for_each(1, |i, to| {
            let mut scratch = FoldBuffers::new(self);
            let start = i % parts * step;
            self.fold_result_group(i / parts, (longest, start..size.min(start + step)), &mut scratch);
            to[0] = Some(scratch);
        });
        let mut scratches = scratches.into_iter();
        for unit in 0..units {
            let mut parts = scratches.by_ref().take(parts).flatten();
            let Some(mut first) = parts.next() else { continue };
            for other in parts {
                // SAFETY: both buffers have the totals of this unit.
                unsafe {
                    self.fold.merge_all_totals(
                        first.totals_pointer(),
                        other.totals.as_ptr().cast(),
                        self.result_group_size_and_pointers(unit).0,
                    );
                };
            }
            self.write_result_group(unit, &mut first);
        }
    }

    fn innermost_kept_dim(&self) -> KeptDim {
        self.kept_dims.first().copied().unwrap_or((1, 0, 0))
    }

    /// Returns the number of results of a unit, and the addresses of its first element and result.
    fn result_group_size_and_pointers(&self, unit: usize) -> (usize, *const u8, *mut u8) {
        let (inner, step, along) = self.innermost_kept_dim();
        let blocks = inner.div_ceil(self.unit_results);
        let first = unit % blocks * self.unit_results;
        let (mut from, mut to) = (to_isize(first).wrapping_mul(step), to_isize(first).wrapping_mul(along));
        let mut rest = unit / blocks;
        for &(size, step, along) in self.kept_dims.iter().skip(1) {
            from = from.wrapping_add(to_isize(rest % size).wrapping_mul(step));
            to += to_isize(rest % size) * along;
            rest /= size;
        }
        (self.unit_results.min(inner - first), self.from.wrapping_offset(from), self.to.wrapping_offset(to))
    }

    /// Folds a unit's elements into totals; of the reduced dimension `cut`, only those in `range`.
    fn fold_result_group(&self, unit: usize, (cut, range): (usize, std::ops::Range<usize>), scratch: &mut FoldBuffers) {
        let (columns, from, _) = self.result_group_size_and_pointers(unit);
        // SAFETY: a scratch has `unit_results` totals.
        unsafe { self.fold.init_totals(scratch.totals_pointer(), columns) };
        let mut sizes: SmallVec<[ReducedDim; 4]> = self.reduced_dims.clone();
        let mut from = from;
        if let Some(reduced_dims) = sizes.get_mut(cut) {
            reduced_dims.0 = range.len();
            from = from.wrapping_offset(to_isize(range.start) * reduced_dims.1);
        }
        if sizes.iter().any(|dim| dim.0 == 0) {
            return;
        }
        let (count, stride) = sizes.first().copied().unwrap_or((1, 0));
        if self.folds_rows {
            visit_rows(&sizes, from, |at| self.fold_rows(at, (columns, count, stride), scratch));
        } else {
            let step = self.innermost_kept_dim().1;
            for column in 0..columns {
                let from = from.wrapping_offset(to_isize(column).wrapping_mul(step));
                let total = scratch.totals_pointer().wrapping_add(column * self.fold.bytes_per_total());
                visit_rows(&sizes, from, |at| self.fold_line(at, (count, stride), total, scratch));
            }
        }
    }

    fn fold_line(&self, at: *const u8, (count, stride): ReducedDim, total: *mut u8, scratch: &mut FoldBuffers) {
        if self.direct && (stride == to_isize(self.element_size) || count == 1) {
            // SAFETY: the elements are the tensor's, of the loops' type, and contiguous.
            return unsafe { self.fold.fold_row(total, at, count) };
        }
        let size = to_isize(self.fold.input_dtype().size());
        for first in (0..count).step_by(self.block_elements) {
            let length = self.block_elements.min(count - first);
            let block = scratch.block_pointer();
            // SAFETY: the elements are the tensor's, and a block has room for `length` of them.
            unsafe {
                (self.load)(at.wrapping_offset(to_isize(first) * stride), stride, block, size, length);
                self.fold.fold_row(total, block, length);
            }
        }
    }

    fn fold_rows(&self, at: *const u8, (columns, count, stride): (usize, usize, isize), scratch: &mut FoldBuffers) {
        let step = self.innermost_kept_dim().1;
        if self.direct && step == to_isize(self.element_size) {
            // SAFETY: the elements are the tensor's, of the loops' type, and rows are contiguous.
            return unsafe { self.fold.fold_rows(scratch.totals_pointer(), columns, at, stride, count) };
        }
        let size = self.fold.input_dtype().size();
        let together = (self.block_elements / columns).max(1);
        for first in (0..count).step_by(together) {
            let rows = together.min(count - first);
            let block = scratch.block_pointer();
            for row in 0..rows {
                let at = at.wrapping_offset(to_isize(first + row) * stride);
                // SAFETY: the elements are the tensor's, and a block has room for `rows` rows.
                unsafe { (self.load)(at, step, block.wrapping_add(row * columns * size), to_isize(size), columns) };
            }
            // SAFETY: the block has `rows` rows.
            unsafe { self.fold.fold_rows(scratch.totals_pointer(), columns, block, to_isize(columns * size), rows) };
        }
    }

    fn write_result_group(&self, unit: usize, scratch: &mut FoldBuffers) {
        let (columns, _, to) = self.result_group_size_and_pointers(unit);
        let (totals, block) = (scratch.totals_pointer(), scratch.block_pointer());
        let size = to_isize(self.fold.output_dtype().size());
        // SAFETY: a block has room for a unit's results, which belong to this unit alone.
        unsafe {
            self.fold.totals_to_results(totals, block, columns);
            (self.store)(block, size, to, self.innermost_kept_dim().2, columns);
        }
    }
}

/// Visits the rows of a loop nest. The first of `sizes` is the dimension along which a row lies.
fn visit_rows(sizes: &[ReducedDim], from: *const u8, mut visit: impl FnMut(*const u8)) {
    let outer = sizes.get(1..).unwrap_or(&[]);
    let mut at: SmallVec<[usize; 4]> = SmallVec::from_elem(0, outer.len());
    let mut from = from;
    loop {
        visit(from);
        let mut dim = 0;
        loop {
            let Some(&(size, stride)) = outer.get(dim) else { return };
            at[dim] += 1;
            from = from.wrapping_offset(stride);
            if at[dim] < size {
                break;
            }
            from = from.wrapping_offset(-stride * to_isize(size));
            at[dim] = 0;
            dim += 1;
        }
    }
}

/// The buffers of a thread: totals, and a block for converted elements. `u128` is aligned for any element type.
struct FoldBuffers {
    totals: Vec<u128>,
    block: Vec<u128>,
}

impl FoldBuffers {
    fn new(nest: &FoldNest<'_>) -> Self {
        let size = nest.fold.input_dtype().size().max(nest.fold.output_dtype().size());
        Self {
            totals: vec![0; (nest.unit_results * nest.fold.bytes_per_total()).div_ceil(16)],
            block: vec![0; (nest.block_elements * size).div_ceil(16)],
        }
    }

    fn totals_pointer(&mut self) -> *mut u8 {
        self.totals.as_mut_ptr().cast()
    }

    fn block_pointer(&mut self) -> *mut u8 {
        self.block.as_mut_ptr().cast()
    }
}
