//! Which elements of a storage a tensor shows.

use smallvec::SmallVec;

use crate::scalar::MemoryFormat;

/// One number per dimension, without allocation for the tensors people use.
pub type Dims = SmallVec<[i64; 5]>;

/// How many elements a tensor of these sizes has, or as many as can be counted.
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
    /// Of up to [`FEW`] dimensions, so that most tensors are made and copied without another allocation. Zeros behind the last.
    sizes: [i64; FEW],
    strides: [i64; FEW],
    /// Sizes and strides of more dimensions.
    many: Option<Box<(Dims, Dims)>>,
    offset: i64,
    /// Asked for by every kernel, so found out once.
    count: i64,
    rank: u8,
    contiguous: bool,
    /// The strides are those that a fresh tensor of these sizes has: dimensions of size 1 can have any.
    canonical: bool,
}

const FEW: usize = 4;

impl Geometry {
    /// Elements side by side, the last dimension innermost.
    #[must_use]
    #[inline]
    pub fn contiguous(sizes: &[i64]) -> Self {
        if sizes.len() > FEW {
            return Self::contiguous_of_many(sizes);
        }
        let (mut own, mut strides) = ([0; FEW], [0; FEW]);
        let (mut stride, mut is_empty): (i64, bool) = (1, false);
        for dim in (0..FEW).rev() {
            if let Some(&size) = sizes.get(dim) {
                (own[dim], strides[dim]) = (size, stride);
                is_empty |= size <= 0;
                stride = stride.saturating_mul(size.max(1));
            }
        }
        let count = if is_empty { 0 } else { stride };
        #[expect(clippy::cast_possible_truncation, reason = "at most `FEW`")]
        let rank = sizes.len() as u8;
        Self { sizes: own, strides, many: None, offset: 0, count, rank, contiguous: true, canonical: true }
    }

    #[cold]
    fn contiguous_of_many(sizes: &[i64]) -> Self {
        let mut strides = Dims::from_elem(1, sizes.len());
        let mut stride: i64 = 1;
        for (at, &size) in strides.iter_mut().zip(sizes).rev() {
            *at = stride;
            stride = stride.saturating_mul(size.max(1));
        }
        Self::of(sizes, &strides, 0)
    }

    /// Elements side by side in the order that a memory format says. None where the format wants another number of dimensions.
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

    /// Elements side by side, with the dimensions nested in this order, the innermost first. None if the order does not name each
    /// dimension once.
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
            let place = strides.get_mut(dim).filter(|place| **place == 0)?;
            *place = stride;
            stride = stride.saturating_mul(sizes[dim].max(1));
            named += 1;
        }
        (named == sizes.len()).then(|| Self::of(sizes, &strides, 0))
    }

    /// Any walk through memory. None where there is not one stride per size.
    #[must_use]
    #[inline]
    pub fn strided(sizes: &[i64], strides: &[i64], offset: i64) -> Option<Self> {
        (sizes.len() == strides.len()).then(|| Self::of(sizes, strides, offset))
    }

    /// The same for as many strides as sizes.
    fn of(sizes: &[i64], strides: &[i64], offset: i64) -> Self {
        let count = sizes.iter().fold(1, |count: i64, &size| count.saturating_mul(size.max(0)));
        let contiguous = count == 0 || are_contiguous(sizes, strides);
        let canonical = contiguous && are_canonical(sizes, strides);
        let mut geometry =
            Self { sizes: [0; FEW], strides: [0; FEW], many: None, offset, count, rank: 0, contiguous, canonical };
        if sizes.len() > FEW {
            geometry.many = Some(Box::new((sizes.into(), strides.into())));
        } else {
            geometry.sizes[..sizes.len()].copy_from_slice(sizes);
            geometry.strides[..strides.len()].copy_from_slice(strides);
            geometry.rank = u8::try_from(sizes.len()).unwrap_or(0);
        }
        geometry
    }

    /// The same walk from another element.
    #[must_use]
    #[inline]
    pub fn at(mut self, offset: i64) -> Self {
        self.offset = offset;
        self
    }

    /// How many elements there are in each dimension.
    #[must_use]
    #[inline]
    pub fn sizes(&self) -> &[i64] {
        match &self.many {
            None => &self.sizes[..usize::from(self.rank).min(FEW)],
            Some(many) => &many.0,
        }
    }

    /// Whether both have the same sizes.
    #[must_use]
    #[inline]
    pub fn same_sizes(&self, other: &Self) -> bool {
        self.rank == other.rank
            && self.count == other.count
            // A single dimension is as large as the whole. More than a few have rank 0 here, and none in place.
            && (self.rank == 1 || (self.sizes == other.sizes && self.many_sizes() == other.many_sizes()))
    }

    /// How far apart neighbours are in each dimension.
    #[must_use]
    #[inline]
    pub fn strides(&self) -> &[i64] {
        match &self.many {
            None => &self.strides[..usize::from(self.rank).min(FEW)],
            Some(many) => &many.1,
        }
    }

    /// Where the first element is.
    #[must_use]
    #[inline]
    pub const fn offset(&self) -> i64 {
        self.offset
    }

    /// How many dimensions there are.
    #[must_use]
    #[inline]
    pub fn rank(&self) -> usize {
        match &self.many {
            None => usize::from(self.rank),
            Some(many) => many.0.len(),
        }
    }

    fn many_sizes(&self) -> Option<&Dims> {
        self.many.as_ref().map(|many| &many.0)
    }

    /// How many elements there are in all, or as many as can be counted; none where a size is negative.
    #[must_use]
    #[inline]
    pub const fn count(&self) -> i64 {
        self.count
    }

    /// Whether the elements lie side by side, the last dimension innermost.
    #[must_use]
    #[inline]
    pub const fn is_contiguous(&self) -> bool {
        self.contiguous
    }

    /// Whether a fresh tensor of these sizes would have these very strides.
    #[must_use]
    #[inline]
    pub const fn is_canonical(&self) -> bool {
        self.canonical
    }

    /// Whether these are some of the first elements of another walk, as is plain to see.
    #[inline]
    pub(super) const fn is_within(&self, other: &Self) -> bool {
        self.contiguous
            && other.contiguous
            && self.offset == other.offset
            && self.count <= other.count
            && self.count > 0
    }

    /// Whether the elements lie side by side as this format says.
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
            let matter =
                self.sizes().iter().zip(self.strides().iter().zip(dense.strides())).filter(|(size, _)| **size != 1);
            self.count == 0 || matter.into_iter().all(|(_, (own, dense))| own == dense)
        })
    }

    /// The format that the strides speak of: one of pictures or of films if channels are innermost, and no dimension jumps less far than
    /// one inside of it. Strides of dimensions of size 1 count too, as they alone tell a picture of one channel from another.
    ///
    /// ```
    /// use dispatch_runtime::{Geometry, MemoryFormat::*};
    /// let images = Geometry::in_format(&[2, 3, 4, 5], ChannelsLast).unwrap();
    /// assert_eq!(images.format(), ChannelsLast);
    /// assert_eq!(Geometry::contiguous(&[2, 3, 4, 5]).format(), Contiguous);
    /// ```
    #[must_use]
    pub fn format(&self) -> MemoryFormat {
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

    /// Whether the elements lie side by side in any order of the dimensions, and none twice.
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

    /// The first element behind all that can be reached; none where a size or a place is negative or overflows.
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

fn are_canonical(sizes: &[i64], strides: &[i64]) -> bool {
    let mut expected: i64 = 1;
    sizes.iter().zip(strides).rev().all(|(&size, &stride)| {
        let fits = stride == expected;
        expected = expected.saturating_mul(size.max(1));
        fits
    })
}

fn are_contiguous(sizes: &[i64], strides: &[i64]) -> bool {
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
    fn an_order_that_does_not_name_each_dimension_once_gives_no_geometry() {
        let sizes = [2, 3, 4];
        assert_eq!(Geometry::dense(&sizes, [1, 2, 0]).unwrap().strides(), [12, 1, 3]);
        for order in [&[0, 1][..], &[0, 1, 1], &[0, 1, 3], &[0, 1, 2, 2], &[usize::MAX, 1, 2]] {
            assert_eq!(Geometry::dense(&sizes, order.iter().copied()), None, "{order:?}");
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
