//! Overlap tests: whether two tensors on one storage, or two elements of one tensor, share memory.
//!
//! Strided tensors can interleave without overlap, like the even and the odd columns of a matrix. Two quick tests decide nearly all pairs;
//! the others are compared byte by byte. If that would take too long, the answer is an overlap. So the answer is quick even for a tensor of
//! [`Device::META`](crate::Device), which can have any size.

use super::Tensor;
use super::bounds::start_byte;
use super::geometry::{Dims, Geometry};

/// The maximum number of bytes, and of elements, that an overlap test compares one by one. Its bit set then has at most 32 MiB.
const MAX_COMPARED_BYTES: i64 = 1 << 28;

/// The bytes of a tensor's elements in its storage, as a start and strides.
struct StridedBytes {
    start: i64,
    element: i64,
    /// The sizes and byte strides of the dimensions along which the address changes.
    steps: Vec<(i64, i64)>,
}

impl StridedBytes {
    fn from_tensor(tensor: &Tensor) -> Self {
        let element = i64::try_from(tensor.dtype().size()).unwrap_or(i64::MAX);
        Self::from_geometry(tensor.geometry(), element)
    }

    fn from_geometry(geometry: &Geometry, element: i64) -> Self {
        let steps = geometry.sizes().iter().zip(geometry.strides()).filter(|(size, stride)| **size > 1 && **stride > 0);
        let steps = steps.map(|(&size, &stride)| (size, stride.saturating_mul(element))).collect();
        Self { start: geometry.offset().saturating_mul(element), element, steps }
    }

    /// Returns the index after the last byte.
    fn end_byte(&self) -> i64 {
        self.steps.iter().fold(self.start.saturating_add(self.element), |end, (size, stride)| {
            end.saturating_add((size - 1).saturating_mul(*stride))
        })
    }

    /// Returns the range of the bytes within a block of `period` bytes, if memory is divided into such blocks. Returns `None` if the range
    /// crosses the end of a block.
    fn range_in_period(&self, period: i64) -> Option<(i64, i64)> {
        let start = self.start % period;
        let inner = self.steps.iter().filter(|(_, stride)| stride % period != 0);
        let end = inner.fold(start.saturating_add(self.element), |end, (size, stride)| {
            end.saturating_add((size - 1).saturating_mul(*stride))
        });
        (end <= period).then_some((start, end))
    }

    /// Returns the number of elements, or `i64::MAX` if it overflows.
    fn element_count(&self) -> i64 {
        self.steps.iter().fold(1, |length: i64, (size, _)| length.saturating_mul(*size))
    }

    /// Returns the index of each element's first byte.
    fn element_starts(&self) -> impl Iterator<Item = i64> {
        let (sizes, strides): (Dims, Dims) = self.steps.iter().copied().unzip();
        super::elements::element_indices(sizes, strides, self.start)
    }
}

/// Returns whether two tensors on one storage have no common byte. Returns false if the test would take too long.
pub(crate) fn are_disjoint(a: &Tensor, b: &Tensor) -> bool {
    if a.geometry().count() == 0 || b.geometry().count() == 0 {
        return true;
    }
    let (a, b) = (StridedBytes::from_tensor(a), StridedBytes::from_tensor(b));
    if a.end_byte() <= b.start || b.end_byte() <= a.start {
        return true;
    }
    let mut periods = a.steps.iter().chain(&b.steps).map(|(_, stride)| *stride).filter(|&stride| stride > 1);
    let is_apart = |period: i64| match (a.range_in_period(period), b.range_in_period(period)) {
        (Some((a_start, a_end)), Some((b_start, b_end))) => a_end <= b_start || b_end <= a_start,
        _ => false,
    };
    let (start, end) = (a.start.min(b.start), a.end_byte().max(b.end_byte()));
    let are_short = end.saturating_sub(start) <= MAX_COMPARED_BYTES
        && a.element_count().saturating_add(b.element_count()) <= MAX_COMPARED_BYTES;
    periods.any(is_apart)
        || are_short && {
            let mut bits = BitSet::new(start, end);
            a.element_starts().for_each(|at| {
                bits.insert_range(at, a.element);
            });
            b.element_starts().all(|at| !(at..at + b.element).any(|index| bits.contains(index)))
        }
}

/// Returns whether two elements of a geometry share memory. Returns true if the test would take too long.
pub(crate) fn overlaps_itself(geometry: &Geometry) -> bool {
    if geometry.is_contiguous() {
        return false;
    }
    if geometry.sizes().iter().zip(geometry.strides()).any(|(&size, &stride)| size > 1 && stride == 0) {
        return true;
    }
    let mut bytes = StridedBytes::from_geometry(geometry, 1);
    bytes.steps.sort_unstable_by_key(|(_, stride)| *stride);
    let mut reach: i64 = 0;
    let nested = bytes.steps.iter().all(|&(size, stride)| {
        let beyond = stride > reach;
        reach = reach.saturating_add((size - 1).saturating_mul(stride));
        beyond
    });
    if nested {
        return false;
    }
    let span = bytes.end_byte().saturating_sub(bytes.start);
    if span < geometry.count() || span > MAX_COMPARED_BYTES {
        return true;
    }
    let mut bits = BitSet::new(bytes.start, bytes.end_byte());
    !bytes.element_starts().all(|at| bits.insert_range(at, 1))
}

/// A bit set over a range of indices.
struct BitSet {
    start: i64,
    words: Vec<u64>,
}

impl BitSet {
    fn new(start: i64, end: i64) -> Self {
        let words = usize::try_from((end - start) / 64 + 1).unwrap_or(0);
        Self { start, words: vec![0; words] }
    }

    /// Adds `count` indices from `at` on, and returns whether none of them was in the set before.
    fn insert_range(&mut self, at: i64, count: i64) -> bool {
        let mut is_new = true;
        for index in at..at + count {
            is_new &= !self.contains(index);
            let (word, bit) = self.word_and_bit(index);
            if let Some(word) = self.words.get_mut(word) {
                *word |= bit;
            }
        }
        is_new
    }

    fn contains(&self, index: i64) -> bool {
        let (word, bit) = self.word_and_bit(index);
        self.words.get(word).is_some_and(|word| word & bit != 0)
    }

    fn word_and_bit(&self, index: i64) -> (usize, u64) {
        let index = index - self.start;
        (usize::try_from(index / 64).unwrap_or(usize::MAX), 1 << index.rem_euclid(64))
    }
}

impl Tensor {
    /// Returns whether two tensors share no memory, or have exactly the same elements. Only then may a call write one and read the other.
    #[must_use]
    pub fn is_disjoint_or_same_elements(&self, other: &Self) -> bool {
        let same_steps = || self.sizes() == other.sizes() && self.strides() == other.strides();
        let same_start = || self.0.geometry.offset() == other.0.geometry.offset() && self.dtype() == other.dtype();
        !self.storage().same(other.storage()) || (same_start() && same_steps()) || are_disjoint(self, other)
    }

    /// Returns whether two tensors have exactly the same elements.
    #[must_use]
    #[inline]
    pub fn is_same_elements_as(&self, other: &Self) -> bool {
        // `start_byte` ignores the offset of a tensor without elements.
        self.storage().same(other.storage())
            && start_byte(&self.0.geometry, self.dtype()) == start_byte(&other.0.geometry, other.dtype())
            && self.dtype() == other.dtype()
            && self.sizes() == other.sizes()
            && self.strides() == other.strides()
    }

    /// Returns whether two elements of this tensor share memory. Such a tensor cannot be written.
    ///
    /// ```
    /// use dispatch_runtime::{Geometry, Tensor};
    /// let one = Tensor::from_slice(&[1.0_f32]);
    /// let thrice = one.restride(Geometry::strided(&[3], &[0], 0).unwrap()).unwrap();
    /// assert!(thrice.overlaps_itself() && !one.overlaps_itself());
    /// ```
    #[must_use]
    pub fn overlaps_itself(&self) -> bool {
        overlaps_itself(self.geometry())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DType;
    use crate::Storage;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn geometry_strategy() -> impl Strategy<Value = Geometry> {
        prop::collection::vec((1_i64..5, 0_i64..9), 0..4).prop_flat_map(|steps| {
            (Just(steps), 0_i64..12).prop_map(|(steps, offset)| {
                let (sizes, strides): (Vec<i64>, Vec<i64>) = steps.into_iter().unzip();
                Geometry::strided(&sizes, &strides, offset).unwrap()
            })
        })
    }

    fn element_indices_of(geometry: &Geometry) -> Vec<i64> {
        crate::tensor::elements::element_indices(geometry.sizes().into(), geometry.strides().into(), geometry.offset())
            .collect()
    }

    #[test]
    fn overlap_tests_are_fast_for_any_sizes() {
        let meta = |sizes: &[i64], strides: &[i64], offset| {
            let geometry = Geometry::strided(sizes, strides, offset).unwrap();
            Tensor::new(Storage::new_meta(0), DType::U8, geometry).unwrap()
        };
        let storage = meta(&[1], &[1], 0);
        let view = |sizes: &[i64], strides: &[i64], offset| {
            storage.restride(Geometry::strided(sizes, strides, offset).unwrap()).unwrap()
        };
        let (even, odd) = (view(&[1 << 60], &[2], 0), view(&[1 << 60], &[2], 1));
        assert!(are_disjoint(&even, &odd) && !are_disjoint(&even, &even));
        // Neither quick test decides these, and a comparison byte by byte would be far too slow.
        let crossed = view(&[1 << 30, 1 << 30], &[3, 7], 1);
        assert!(!are_disjoint(&even, &crossed));
        assert!(overlaps_itself(crossed.geometry()));
        // All elements of the first tensor are the same byte.
        assert!(are_disjoint(&view(&[1 << 60], &[0], 5), &view(&[4], &[1], 0)));
        assert!(overlaps_itself(view(&[1 << 60, 2], &[0, 1], 0).geometry()));
    }

    proptest! {
        #[test]
        fn are_disjoint_agrees_with_a_comparison_of_all_indices(a in geometry_strategy(), b in geometry_strategy()) {
            let storage = Storage::new_host(2000);
            let tensor = |geometry: &Geometry| Tensor::new(storage.clone(), DType::I16, geometry.clone()).unwrap();
            let in_a: HashSet<i64> = element_indices_of(&a).into_iter().collect();
            let overlap = element_indices_of(&b).iter().any(|index| in_a.contains(index));
            prop_assert_eq!(are_disjoint(&tensor(&a), &tensor(&b)), !overlap);
        }

        #[test]
        fn overlaps_itself_agrees_with_a_search_for_equal_indices(geometry in geometry_strategy()) {
            let all = element_indices_of(&geometry);
            let distinct: HashSet<i64> = all.iter().copied().collect();
            prop_assert_eq!(overlaps_itself(&geometry), distinct.len() < all.len());
        }
    }
}
