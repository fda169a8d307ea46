//! Sums and maxima of one line of floating-point elements, in blocks that stay in registers.

use crate::compute::{self, sum_lanes};
use crate::inlined::vectorised;
use crate::reduce::min_max::{Comparable, larger};

/// The number of elements that are computed side by side.
pub const LANE_COUNT: usize = 32;

/// The most elements that are added to each lane before the sum continues in double precision.
pub const ELEMENTS_PER_LANE: usize = 64;

/// A floating-point type with an order, in which softmax, norms and attention are computed.
pub trait OrderedFloat: Comparable + compute::RealFloat + Into<f64> {}

impl OrderedFloat for f32 {}
impl OrderedFloat for f64 {}

/// Returns the largest element of a line; NaN if one is NaN.
pub fn max_of_line<T: Comparable>(line: &[T]) -> T {
    vectorised!({
        let mut lanes = [T::MIN_VALUE; LANE_COUNT];
        let (wide, rest) = line.as_chunks::<LANE_COUNT>();
        // The last block may overlap the one before, which does not change a maximum.
        let last = line.last_chunk().copied().unwrap_or_else(|| padded_block(rest, T::MIN_VALUE));
        for values in wide.iter().chain([&last]) {
            for (lane, &value) in lanes.iter_mut().zip(values) {
                *lane = larger(value, *lane);
            }
        }
        // Halves of the lanes are compared side by side. Comparisons one after the other take longer than a short line.
        let mut width = LANE_COUNT / 2;
        while width > 0 {
            let (low, high) = lanes.split_at_mut(width);
            for (a, b) in low.iter_mut().zip(high) {
                *a = larger(*b, *a);
            }
            width /= 2;
        }
        lanes[0]
    })
}

/// Returns the last elements of a line as a block, padded with `filler`.
#[inline(always)]
pub fn padded_block<T: Copy>(rest: &[T], filler: T) -> [T; LANE_COUNT] {
    let mut block = [filler; LANE_COUNT];
    block[..rest.len()].copy_from_slice(rest);
    block
}

/// Returns the sum of `f` over the elements of several slices of equal length. `f` must return zero for `filler`, which pads the last
/// block.
#[inline(always)]
pub fn sum_of_line<T: OrderedFloat, const K: usize>(slices: [&[T]; K], filler: [T; K], f: impl Fn([T; K]) -> T) -> T {
    let length = slices[0].len();
    let mut sum = 0.0;
    for start in (0..length).step_by(LANE_COUNT * ELEMENTS_PER_LANE) {
        let end = length.min(start + LANE_COUNT * ELEMENTS_PER_LANE);
        let cut = slices.map(|slice| slice[start..end].as_chunks::<LANE_COUNT>());
        let mut lanes = [T::ZERO; LANE_COUNT];
        let mut add = |blocks: [&[T; LANE_COUNT]; K]| {
            for (i, lane) in lanes.iter_mut().enumerate() {
                *lane = lane.plus(f(std::array::from_fn(|k| blocks[k][i])));
            }
        };
        for block in 0..cut[0].0.len() {
            add(std::array::from_fn(|k| &cut[k].0[block]));
        }
        if !cut[0].1.is_empty() {
            let last: [[T; LANE_COUNT]; K] = std::array::from_fn(|k| padded_block(cut[k].1, filler[k]));
            add(last.each_ref());
        }
        sum += sum_lanes(lanes).into();
    }
    T::from_f64(sum)
}
