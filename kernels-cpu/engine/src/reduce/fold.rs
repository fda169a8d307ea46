//! The loops of a fold, over contiguous elements of its input type.
#![expect(unsafe_code, reason = "lines and units divided among threads")]

use std::mem::MaybeUninit;

use dispatch_runtime::{DType, Element};

use super::Fold;
use crate::elementwise::prefetch;
use crate::math::vectorised;

/// The most columns that are folded at a time: their lanes stay in the L1 cache.
pub(super) const MAX_FOLDED_COLUMNS: usize = 1024;
/// The most elements that are added to a lane before the lane is joined with others.
const ELEMENTS_PER_LANE: usize = 64;
/// The number of lanes for contiguous elements: for lanes of at most four bytes, and for wider ones.
const LANE_COUNTS: [usize; 2] = [64, 16];
/// The most elements in a lane after all lanes are joined. A lane that counts elements must be able to hold this number.
pub const MAX_LANE_ELEMENTS: usize = LANE_COUNTS[0] * ELEMENTS_PER_LANE;
/// The distance of prefetching in bytes: the processor itself does not prefetch beyond a page.
const PREFETCH_BYTE_DISTANCE: usize = 8192;

/// A fold with erased types, for a fold nest. Every pointer must point to as many contiguous totals, elements or results as the function
/// states.
pub(super) trait ErasedFold: Sync {
    fn input_dtype(&self) -> DType;

    fn output_dtype(&self) -> DType;

    fn bytes_per_total(&self) -> usize;

    /// Initialises `count` totals.
    unsafe fn init_totals(&self, totals: *mut u8, count: usize);

    /// Folds `count` elements into a total.
    unsafe fn fold_row(&self, total: *mut u8, values: *const u8, count: usize);

    /// Folds `count` rows, `stride` bytes apart, into a row of at most [`MAX_FOLDED_COLUMNS`] totals.
    unsafe fn fold_rows(&self, totals: *mut u8, columns: usize, rows: *const u8, stride: isize, count: usize);

    /// Merges `count` totals into others.
    unsafe fn merge_all_totals(&self, totals: *mut u8, others: *const u8, count: usize);

    /// Converts `count` totals to results.
    unsafe fn totals_to_results(&self, totals: *const u8, out: *mut u8, count: usize);
}

impl<F: Fold> ErasedFold for F {
    fn input_dtype(&self) -> DType {
        F::Input::DTYPE
    }

    fn output_dtype(&self) -> DType {
        F::Output::DTYPE
    }

    fn bytes_per_total(&self) -> usize {
        size_of::<F::TotalAccumulator>()
    }

    unsafe fn init_totals(&self, totals: *mut u8, count: usize) {
        for i in 0..count {
            // SAFETY: the caller guarantees room for `count` totals.
            unsafe { totals.cast::<F::TotalAccumulator>().add(i).write(self.lane_to_total(self.empty_lane())) };
        }
    }

    unsafe fn fold_row(&self, total: *mut u8, values: *const u8, count: usize) {
        // SAFETY: the caller guarantees a total and `count` elements.
        let (total, values) = unsafe {
            (&mut *total.cast::<F::TotalAccumulator>(), std::slice::from_raw_parts(values.cast::<F::Input>(), count))
        };
        let lane = if count < ELEMENTS_PER_LANE {
            values.iter().fold(self.empty_lane(), |lane, &value| self.add_to_lane(lane, value))
        } else if size_of::<F::LaneAccumulator>() <= 4 {
            return *total = fold_in_lanes::<F, { LANE_COUNTS[0] }>(self, *total, values);
        } else {
            return *total = fold_in_lanes::<F, { LANE_COUNTS[1] }>(self, *total, values);
        };
        *total = self.merge_totals(*total, self.lane_to_total(lane));
    }

    unsafe fn fold_rows(&self, totals: *mut u8, columns: usize, rows: *const u8, stride: isize, count: usize) {
        // SAFETY: the caller guarantees `columns` totals.
        let totals = unsafe { std::slice::from_raw_parts_mut(totals.cast::<F::TotalAccumulator>(), columns) };
        let mut lanes = [const { MaybeUninit::<F::LaneAccumulator>::uninit() }; MAX_FOLDED_COLUMNS];
        let lanes = &mut lanes[..columns];
        vectorised!({
            for from in (0..count).step_by(ELEMENTS_PER_LANE) {
                let end = count.min(from + ELEMENTS_PER_LANE);
                let row = |i: usize| {
                    let at = rows.wrapping_offset(stride * isize::try_from(i).unwrap_or(0));
                    // SAFETY: the caller guarantees `count` rows of `columns` elements.
                    unsafe { std::slice::from_raw_parts(at.cast::<F::Input>(), columns) }
                };
                for lane in &mut *lanes {
                    lane.write(self.empty_lane());
                }
                let mut i = from;
                while i + 4 <= end {
                    let four = [row(i), row(i + 1), row(i + 2), row(i + 3)];
                    for (j, lane) in lanes.iter_mut().enumerate() {
                        // SAFETY: lanes were initialised above, and rows have as many elements as there are lanes.
                        unsafe {
                            let lane_value = self.add_to_lane(lane.assume_init(), *four[0].get_unchecked(j));
                            let lane_value = self.add_to_lane(lane_value, *four[1].get_unchecked(j));
                            let lane_value = self.add_to_lane(lane_value, *four[2].get_unchecked(j));
                            lane.write(self.add_to_lane(lane_value, *four[3].get_unchecked(j)));
                        }
                    }
                    i += 4;
                }
                for i in i..end {
                    for (lane, &value) in lanes.iter_mut().zip(row(i)) {
                        // SAFETY: lanes were initialised above.
                        unsafe { lane.write(self.add_to_lane(lane.assume_init(), value)) };
                    }
                }
                for (total, lane) in totals.iter_mut().zip(&*lanes) {
                    // SAFETY: lanes were initialised above.
                    *total = self.merge_totals(*total, self.lane_to_total(unsafe { lane.assume_init() }));
                }
            }
        });
    }

    unsafe fn merge_all_totals(&self, totals: *mut u8, others: *const u8, count: usize) {
        let (totals, others) = (totals.cast::<F::TotalAccumulator>(), others.cast::<F::TotalAccumulator>());
        for i in 0..count {
            // SAFETY: the caller guarantees `count` totals on either side.
            unsafe { totals.add(i).write(Fold::merge_totals(self, totals.add(i).read(), others.add(i).read())) };
        }
    }

    unsafe fn totals_to_results(&self, totals: *const u8, out: *mut u8, count: usize) {
        for i in 0..count {
            // SAFETY: the caller guarantees `count` totals, and room for as many results.
            unsafe {
                out.cast::<F::Output>()
                    .add(i)
                    .write(Fold::total_to_result(self, totals.cast::<F::TotalAccumulator>().add(i).read()));
            };
        }
    }
}

/// Folds contiguous elements in `N` lanes.
fn fold_in_lanes<F: Fold, const N: usize>(
    fold: &F,
    total: F::TotalAccumulator,
    values: &[F::Input],
) -> F::TotalAccumulator {
    vectorised!({
        let mut total = total;
        for block in values.chunks(N * ELEMENTS_PER_LANE) {
            let mut lanes = [fold.empty_lane(); N];
            let (wide, rest) = block.as_chunks::<N>();
            for values in wide {
                prefetch::prefetch_for_reading(
                    values.as_ptr().cast::<u8>().wrapping_add(PREFETCH_BYTE_DISTANCE),
                    size_of_val(values),
                );
                for (lane, &value) in lanes.iter_mut().zip(values) {
                    *lane = fold.add_to_lane(*lane, value);
                }
            }
            for (lane, &value) in lanes.iter_mut().zip(rest) {
                *lane = fold.add_to_lane(*lane, value);
            }
            let mut width = N / 2;
            while width > 0 {
                let (low, high) = lanes.split_at_mut(width);
                for (a, b) in low.iter_mut().zip(high) {
                    *a = fold.join_lanes(*a, *b);
                }
                width /= 2;
            }
            total = fold.merge_totals(total, fold.lane_to_total(lanes[0]));
        }
        total
    })
}
