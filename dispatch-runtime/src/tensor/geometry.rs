//! Which elements of a storage a tensor shows.

use smallvec::SmallVec;

/// One number per dimension, without allocation for the tensors people use.
pub type Dims = SmallVec<[i64; 5]>;

/// Sizes, strides and offset, in elements.
///
/// ```
/// use dispatch_runtime::Geometry;
/// let matrix = Geometry::contiguous(&[2, 3]);
/// assert_eq!(matrix.strides(), [3, 1]);
/// assert_eq!(matrix.count(), 6);
/// assert!(matrix.is_contiguous());
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Geometry {
    sizes: Dims,
    strides: Dims,
    offset: i64,
}

impl Geometry {
    /// Elements side by side, the last dimension innermost.
    #[must_use]
    pub fn contiguous(sizes: &[i64]) -> Self {
        let mut strides = Dims::from_elem(1, sizes.len());
        for dim in (1..sizes.len()).rev() {
            strides[dim - 1] = strides[dim].saturating_mul(sizes[dim].max(1));
        }
        Self { sizes: sizes.into(), strides, offset: 0 }
    }

    /// Any walk through memory. None where there is not one stride per size.
    #[must_use]
    pub fn strided(sizes: &[i64], strides: &[i64], offset: i64) -> Option<Self> {
        (sizes.len() == strides.len()).then(|| Self { sizes: sizes.into(), strides: strides.into(), offset })
    }

    /// How many elements there are in each dimension.
    #[must_use]
    pub fn sizes(&self) -> &[i64] {
        &self.sizes
    }

    /// How far apart neighbours are in each dimension.
    #[must_use]
    pub fn strides(&self) -> &[i64] {
        &self.strides
    }

    /// Where the first element is.
    #[must_use]
    pub const fn offset(&self) -> i64 {
        self.offset
    }

    /// How many elements there are in all, or as many as can be counted; none where a size is negative.
    #[must_use]
    pub fn count(&self) -> i64 {
        self.sizes.iter().fold(1, |count: i64, &size| count.saturating_mul(size.max(0)))
    }

    /// Whether the elements lie side by side, the last dimension innermost.
    #[must_use]
    pub fn is_contiguous(&self) -> bool {
        if self.count() == 0 {
            return true;
        }
        let mut expected: i64 = 1;
        for (&size, &stride) in self.sizes.iter().zip(&self.strides).rev() {
            if size != 1 && stride != expected {
                return false;
            }
            expected = expected.saturating_mul(size);
        }
        true
    }

    /// The first element behind all that can be reached; none where a size or a place is negative or overflows.
    pub(super) fn end(&self) -> Option<i64> {
        if self.offset < 0 || self.sizes.iter().any(|&size| size < 0) || self.strides.iter().any(|&stride| stride < 0) {
            return None;
        }
        if self.sizes.contains(&0) {
            return Some(self.offset);
        }
        let steps = self.sizes.iter().zip(&self.strides);
        let last = steps
            .map(|(&size, &stride)| (size - 1).checked_mul(stride))
            .try_fold(self.offset, |at, step| at.checked_add(step?));
        last?.checked_add(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transposed_matrix_is_not_contiguous_but_a_row_is() {
        assert!(!Geometry::strided(&[3, 2], &[1, 3], 0).unwrap().is_contiguous());
        assert!(Geometry::strided(&[1, 3], &[100, 1], 4).unwrap().is_contiguous());
        assert!(Geometry::strided(&[0, 3], &[7, 7], 0).unwrap().is_contiguous());
    }

    #[test]
    fn sizes_that_no_memory_holds_are_counted_as_far_as_numbers_go() {
        let huge = Geometry::contiguous(&[i64::MAX, 2, 2]);
        assert!(huge.is_contiguous() && huge.count() == i64::MAX);
        assert!(Geometry::contiguous(&[2, i64::MAX, i64::MAX, 2]).is_contiguous());
        for sizes in [&[-1, 5][..], &[i64::MIN, -1], &[i64::MAX, 2, -3]] {
            let negative = Geometry::contiguous(sizes);
            assert_eq!((negative.count(), negative.end()), (0, None), "{sizes:?}");
            assert!(negative.is_contiguous());
        }
    }

    #[test]
    fn the_end_of_what_overflows_is_nowhere() {
        assert_eq!(Geometry::strided(&[i64::MAX, 3], &[i64::MAX, 1], 0).unwrap().end(), None);
        assert_eq!(Geometry::strided(&[2], &[-1], 1).unwrap().end(), None);
        assert_eq!(Geometry::contiguous(&[2, 3]).end(), Some(6));
        assert_eq!(Geometry::contiguous(&[]).end(), Some(1));
    }
}
