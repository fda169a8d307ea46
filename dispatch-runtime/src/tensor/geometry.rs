//! Geometries: the sizes, strides and offset of a tensor's elements in its storage.

use smallvec::SmallVec;

use crate::scalar::MemoryFormat;

/// A list with one number per dimension, without allocation for up to five dimensions.
pub type Dims = SmallVec<[i64; 5]>;

/// Returns the number of elements of a tensor of these sizes, or `i64::MAX` if it overflows.
///
/// ```
/// use dispatch_runtime::element_count;
/// assert_eq!(element_count(&[2, 3, 4]), 24);
/// assert_eq!(element_count(&[i64::MAX, 2, 0]), 0);
/// assert_eq!(element_count(&[i64::MAX, 2]), i64::MAX);
/// ```
#[must_use]
pub fn element_count(sizes: &[i64]) -> i64 {
    sizes.iter().fold(1, |count: i64, &size| count.saturating_mul(size))
}

/// The sizes, strides and offset of a tensor, in elements.
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
    /// The sizes of up to [`INLINE_DIMS`] dimensions, in place so that most tensors need no other allocation. Unused entries are zero.
    sizes: [i64; INLINE_DIMS],
    strides: [i64; INLINE_DIMS],
    /// The sizes and strides if there are more than [`INLINE_DIMS`] dimensions.
    heap: Option<Box<(Dims, Dims)>>,
    offset: i64,
    /// The number of elements, computed once because every kernel needs it.
    count: i64,
    rank: u8,
    contiguous: bool,
    /// Whether the strides are exactly those of a new tensor of these sizes. A contiguous geometry may differ in dimensions of size 1.
    canonical: bool,
}

const INLINE_DIMS: usize = 4;

impl Geometry {
    /// Creates a contiguous geometry: elements without gaps, the last dimension innermost.
    #[must_use]
    #[inline]
    pub fn contiguous(sizes: &[i64]) -> Self {
        if sizes.len() > INLINE_DIMS {
            return Self::contiguous_on_heap(sizes);
        }
        let (mut own, mut strides) = ([0; INLINE_DIMS], [0; INLINE_DIMS]);
        let (mut stride, mut is_empty): (i64, bool) = (1, false);
        for dim in (0..INLINE_DIMS).rev() {
            if let Some(&size) = sizes.get(dim) {
                (own[dim], strides[dim]) = (size, stride);
                is_empty |= size <= 0;
                stride = stride.saturating_mul(size.max(1));
            }
        }
        let count = if is_empty { 0 } else { stride };
        #[expect(clippy::cast_possible_truncation, reason = "at most `INLINE_DIMS`")]
        let rank = sizes.len() as u8;
        Self { sizes: own, strides, heap: None, offset: 0, count, rank, contiguous: true, canonical: true }
    }

    #[cold]
    fn contiguous_on_heap(sizes: &[i64]) -> Self {
        let mut strides = Dims::from_elem(1, sizes.len());
        let mut stride: i64 = 1;
        for (target, &size) in strides.iter_mut().zip(sizes).rev() {
            *target = stride;
            stride = stride.saturating_mul(size.max(1));
        }
        Self::new_unchecked(sizes, &strides, 0)
    }

    /// Creates a geometry without gaps in a memory format. Returns `None` if the format needs another number of dimensions.
    ///
    /// ```
    /// use dispatch_runtime::{Geometry, MemoryFormat};
    /// let images = Geometry::in_format(&[2, 3, 4, 5], MemoryFormat::ChannelsLast).unwrap();
    /// assert_eq!(images.strides(), [60, 1, 15, 3]);
    /// ```
    #[must_use]
    pub fn in_format(sizes: &[i64], format: MemoryFormat) -> Option<Self> {
        let inner_to_outer: &[usize] = match (format, sizes.len()) {
            (MemoryFormat::Contiguous | MemoryFormat::Preserve, _) => return Some(Self::contiguous(sizes)),
            (MemoryFormat::ChannelsLast, 4) => &[1, 3, 2, 0],
            (MemoryFormat::ChannelsLast3d, 5) => &[1, 4, 3, 2, 0],
            _ => return None,
        };
        Self::dense(sizes, inner_to_outer.iter().copied())
    }

    /// Creates a geometry without gaps, with the dimensions nested in this order, the innermost first. Returns `None` if the order does not
    /// name each dimension once.
    ///
    /// ```
    /// use dispatch_runtime::Geometry;
    /// assert_eq!(Geometry::dense(&[2, 3], [0, 1]).unwrap().strides(), [1, 2]);
    /// assert_eq!(Geometry::dense(&[2, 3], [1, 2]), None);
    /// ```
    #[must_use]
    pub fn dense(sizes: &[i64], inner_to_outer: impl IntoIterator<Item = usize>) -> Option<Self> {
        let mut strides = Dims::from_elem(0, sizes.len());
        let (mut stride, mut named): (i64, usize) = (1, 0);
        for dim in inner_to_outer {
            let target = strides.get_mut(dim).filter(|target| **target == 0)?;
            *target = stride;
            stride = stride.saturating_mul(sizes[dim].max(1));
            named += 1;
        }
        (named == sizes.len()).then(|| Self::new_unchecked(sizes, &strides, 0))
    }

    /// Creates a geometry with any strides and offset. Returns `None` if there is not one stride per size.
    #[must_use]
    #[inline]
    pub fn strided(sizes: &[i64], strides: &[i64], offset: i64) -> Option<Self> {
        (sizes.len() == strides.len()).then(|| Self::new_unchecked(sizes, strides, offset))
    }

    /// Creates a geometry without a check. There must be as many strides as sizes.
    fn new_unchecked(sizes: &[i64], strides: &[i64], offset: i64) -> Self {
        let count = sizes.iter().fold(1, |count: i64, &size| count.saturating_mul(size.max(0)));
        let contiguous = count == 0 || are_strides_contiguous(sizes, strides);
        let canonical = contiguous && are_strides_canonical(sizes, strides);
        let mut geometry = Self {
            sizes: [0; INLINE_DIMS],
            strides: [0; INLINE_DIMS],
            heap: None,
            offset,
            count,
            rank: 0,
            contiguous,
            canonical,
        };
        if sizes.len() > INLINE_DIMS {
            geometry.heap = Some(Box::new((sizes.into(), strides.into())));
        } else {
            geometry.sizes[..sizes.len()].copy_from_slice(sizes);
            geometry.strides[..strides.len()].copy_from_slice(strides);
            geometry.rank = u8::try_from(sizes.len()).unwrap_or(0);
        }
        geometry
    }

    /// Returns the same geometry with another offset.
    #[must_use]
    #[inline]
    pub fn with_offset(mut self, offset: i64) -> Self {
        self.offset = offset;
        self
    }

    /// Returns the sizes: the number of elements in each dimension.
    #[must_use]
    #[inline]
    pub fn sizes(&self) -> &[i64] {
        match &self.heap {
            None => &self.sizes[..usize::from(self.rank).min(INLINE_DIMS)],
            Some(heap) => &heap.0,
        }
    }

    /// Returns whether both geometries have the same sizes.
    #[must_use]
    #[inline]
    pub fn same_sizes(&self, other: &Self) -> bool {
        self.rank == other.rank
            && self.count == other.count
            // With one dimension, equal counts mean equal sizes. More than `INLINE_DIMS` dimensions have rank 0, and their sizes are in
            // `heap`.
            && (self.rank == 1 || (self.sizes == other.sizes && self.heap_sizes() == other.heap_sizes()))
    }

    /// Returns the strides: the distance between neighbouring elements in each dimension.
    #[must_use]
    #[inline]
    pub fn strides(&self) -> &[i64] {
        match &self.heap {
            None => &self.strides[..usize::from(self.rank).min(INLINE_DIMS)],
            Some(heap) => &heap.1,
        }
    }

    /// Returns the offset: the index of the first element in the storage.
    #[must_use]
    #[inline]
    pub const fn offset(&self) -> i64 {
        self.offset
    }

    /// Returns the number of dimensions.
    #[must_use]
    #[inline]
    pub fn rank(&self) -> usize {
        match &self.heap {
            None => usize::from(self.rank),
            Some(heap) => heap.0.len(),
        }
    }

    fn heap_sizes(&self) -> Option<&Dims> {
        self.heap.as_ref().map(|heap| &heap.0)
    }

    /// Returns the number of elements, or `i64::MAX` if it overflows. It is 0 if a size is negative.
    #[must_use]
    #[inline]
    pub const fn count(&self) -> i64 {
        self.count
    }

    /// Returns whether the elements have no gaps, the last dimension innermost.
    #[must_use]
    #[inline]
    pub const fn is_contiguous(&self) -> bool {
        self.contiguous
    }

    /// Returns whether the strides are exactly those of a new tensor of these sizes.
    #[must_use]
    #[inline]
    pub const fn is_canonical(&self) -> bool {
        self.canonical
    }

    /// Returns whether these elements are among the first ones of `other`, by a quick test: both are contiguous from the same offset. False
    /// is possible for other geometries that are inside.
    #[inline]
    pub(super) const fn is_prefix_of(&self, other: &Self) -> bool {
        self.contiguous
            && other.contiguous
            && self.offset == other.offset
            && self.count <= other.count
            && self.count > 0
    }

    /// Returns whether the elements have no gaps and are in this memory format.
    ///
    /// ```
    /// use dispatch_runtime::{Geometry, MemoryFormat::*};
    /// let images = Geometry::in_format(&[2, 3, 4, 5], ChannelsLast).unwrap();
    /// assert!(images.is_in_format(ChannelsLast) && !images.is_in_format(Contiguous));
    /// ```
    #[must_use]
    pub fn is_in_format(&self, format: MemoryFormat) -> bool {
        let dense = Self::in_format(self.sizes(), format);
        dense.is_some_and(|dense| {
            let relevant =
                self.sizes().iter().zip(self.strides().iter().zip(dense.strides())).filter(|(size, _)| **size != 1);
            self.count == 0 || relevant.into_iter().all(|(_, (own, dense))| own == dense)
        })
    }

    /// Returns the memory format that the strides suggest. It is a channels-last format if the channels are innermost, and if each stride
    /// is at least the extent of the dimensions inside. Strides of dimensions of size 1 count too, because only they show the format of
    /// images with one channel.
    ///
    /// ```
    /// use dispatch_runtime::{Geometry, MemoryFormat::*};
    /// let images = Geometry::in_format(&[2, 3, 4, 5], ChannelsLast).unwrap();
    /// assert_eq!(images.suggested_format(), ChannelsLast);
    /// assert_eq!(Geometry::contiguous(&[2, 3, 4, 5]).suggested_format(), Contiguous);
    /// ```
    #[must_use]
    pub fn suggested_format(&self) -> MemoryFormat {
        let format = match self.sizes().len() {
            4 => MemoryFormat::ChannelsLast,
            5 => MemoryFormat::ChannelsLast3d,
            _ => return MemoryFormat::Contiguous,
        };
        let (sizes, strides) = (self.sizes(), self.strides());
        let inner_to_outer = std::iter::once(1).chain((2..sizes.len()).rev());
        let mut least = 0;
        for dim in inner_to_outer {
            if sizes[dim] == 0 || strides[dim] < least {
                return MemoryFormat::Contiguous;
            }
            least = strides[dim].saturating_mul(sizes[dim]);
        }
        let ambiguous = strides[1] == 0 || least == strides[1];
        if sizes[0] == 0 || strides[0] < least || ambiguous { MemoryFormat::Contiguous } else { format }
    }

    /// Returns whether the elements have neither gaps nor overlaps, in any order of the dimensions.
    ///
    /// ```
    /// use dispatch_runtime::Geometry;
    /// assert!(Geometry::strided(&[2, 3], &[1, 2], 0).unwrap().is_dense());
    /// assert!(!Geometry::strided(&[2, 3], &[0, 1], 0).unwrap().is_dense());
    /// ```
    #[must_use]
    pub fn is_dense(&self) -> bool {
        if self.contiguous {
            return true;
        }
        let mut steps: SmallVec<[(i64, i64); 5]> =
            self.strides().iter().copied().zip(self.sizes().iter().copied()).filter(|&(_, size)| size != 1).collect();
        steps.sort_unstable();
        let mut expected: i64 = 1;
        steps.into_iter().all(|(stride, size)| {
            let fits = stride == expected;
            expected = expected.saturating_mul(size);
            fits
        })
    }

    /// Returns the index after the last element in the storage. Returns `None` if a size, a stride or the offset is negative, or if the
    /// index overflows.
    #[inline]
    #[must_use]
    pub fn end(&self) -> Option<i64> {
        if self.contiguous && self.count > 0 && self.offset >= 0 {
            return self.offset.checked_add(self.count);
        }
        self.strided_end()
    }

    fn strided_end(&self) -> Option<i64> {
        if self.offset < 0
            || self.sizes().iter().any(|&size| size < 0)
            || self.strides().iter().any(|&stride| stride < 0)
        {
            return None;
        }
        if self.sizes().contains(&0) {
            return Some(self.offset);
        }
        let steps = self.sizes().iter().zip(self.strides());
        let last = steps
            .map(|(&size, &stride)| (size - 1).checked_mul(stride))
            .try_fold(self.offset, |at, step| at.checked_add(step?));
        last?.checked_add(1)
    }
}

fn are_strides_canonical(sizes: &[i64], strides: &[i64]) -> bool {
    let mut expected: i64 = 1;
    sizes.iter().zip(strides).rev().all(|(&size, &stride)| {
        let fits = stride == expected;
        expected = expected.saturating_mul(size.max(1));
        fits
    })
}

fn are_strides_contiguous(sizes: &[i64], strides: &[i64]) -> bool {
    let mut expected: i64 = 1;
    sizes.iter().zip(strides).rev().all(|(&size, &stride)| {
        let fits = size == 1 || stride == expected;
        expected = expected.saturating_mul(size);
        fits
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transposed_matrix_is_not_contiguous_and_a_row_is() {
        assert!(!Geometry::strided(&[3, 2], &[1, 3], 0).unwrap().is_contiguous());
        assert!(Geometry::strided(&[1, 3], &[100, 1], 4).unwrap().is_contiguous());
        assert!(Geometry::strided(&[0, 3], &[7, 7], 0).unwrap().is_contiguous());
    }

    #[test]
    fn element_counts_saturate_and_negative_sizes_count_as_empty() {
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
    fn dense_rejects_an_order_that_is_no_permutation() {
        let sizes = [2, 3, 4];
        assert_eq!(Geometry::dense(&sizes, [1, 2, 0]).unwrap().strides(), [12, 1, 3]);
        for order in [&[0, 1][..], &[0, 1, 1], &[0, 1, 3], &[0, 1, 2, 2], &[usize::MAX, 1, 2]] {
            assert_eq!(Geometry::dense(&sizes, order.iter().copied()), None, "{order:?}");
        }
    }

    #[test]
    fn end_is_none_on_overflow_and_for_negative_strides() {
        assert_eq!(Geometry::strided(&[i64::MAX, 3], &[i64::MAX, 1], 0).unwrap().end(), None);
        assert_eq!(Geometry::strided(&[2], &[-1], 1).unwrap().end(), None);
        assert_eq!(Geometry::contiguous(&[2, 3]).end(), Some(6));
        assert_eq!(Geometry::contiguous(&[]).end(), Some(1));
    }
}
