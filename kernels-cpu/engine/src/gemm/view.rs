//! Strided views of matrices, with bounds checks when they are made.

use crate::inlined::vectorised;
use std::marker::PhantomData;

/// A view of a matrix that is not written during `'a`. It is `Copy`.
pub struct Matrix<'a, T> {
    pub(super) data: *const T,
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) row_stride: isize,
    pub(super) column_stride: isize,
    lifetime: PhantomData<&'a [T]>,
}

/// An exclusive view of a matrix; no two of its entries share memory.
pub struct MatrixMut<'a, T> {
    pub(super) data: *mut T,
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) row_stride: isize,
    pub(super) column_stride: isize,
    lifetime: PhantomData<&'a mut [T]>,
}

/// A view of matrices of equal sizes, a constant stride apart.
pub struct Batch<'a, T> {
    first: Matrix<'a, T>,
    count: usize,
    stride: isize,
}

/// An exclusive view of matrices of equal sizes, a constant stride apart.
pub struct BatchMut<'a, T> {
    first: MatrixMut<'a, T>,
    count: usize,
    stride: isize,
}

impl<T> Clone for Matrix<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Matrix<'_, T> {}

impl<T> Clone for Batch<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Batch<'_, T> {}

// SAFETY: a `Matrix` is a shared borrow of entries.
unsafe impl<T: Sync> Send for Matrix<'_, T> {}
// SAFETY: a `Matrix` is a shared borrow of entries.
unsafe impl<T: Sync> Sync for Matrix<'_, T> {}
// SAFETY: a `MatrixMut` is a unique borrow of entries.
unsafe impl<T: Send> Send for MatrixMut<'_, T> {}
// SAFETY: a shared `MatrixMut` gives access to entries through `unsafe` functions only.
unsafe impl<T: Send + Sync> Sync for MatrixMut<'_, T> {}

/// Returns whether a view that starts at the first of `length` elements stays inside these elements.
fn is_in_bounds<const D: usize>(length: usize, sizes: [usize; D], strides: [usize; D]) -> bool {
    sizes.contains(&0)
        || sizes
            .iter()
            .zip(strides)
            .try_fold(0_usize, |last, (size, stride)| last.checked_add((size - 1).checked_mul(stride)?))
            .is_some_and(|last| last < length && isize::try_from(last).is_ok())
}

/// Returns whether no two entries share memory: in the order of the strides, each stride exceeds the extent of the smaller ones.
fn has_distinct_entries<const D: usize>(sizes: [usize; D], strides: [usize; D]) -> bool {
    let mut order: [usize; D] = std::array::from_fn(|dim| dim);
    order.sort_unstable_by_key(|&dim| (strides[dim], sizes[dim]));
    let mut last = 0;
    order.into_iter().filter(|&dim| sizes[dim] > 1).all(|dim| {
        let over = strides[dim] > last;
        last += (sizes[dim] - 1) * strides[dim];
        over
    })
}

/// Converts a stride of a checked view to `isize`. If the stride does not fit, its dimension has at most one entry, and the stride is never
/// used.
fn stride_to_isize(stride: usize) -> isize {
    isize::try_from(stride).unwrap_or(0)
}

impl<'a, T> Matrix<'a, T> {
    /// Returns a view of `[rows, columns]` that starts at the first element of `data`; `None` if it would leave `data`.
    ///
    /// ```
    /// use kernels_cpu::gemm::Matrix;
    /// let data = [0.0_f64; 6];
    /// assert!(Matrix::new(&data, [2, 3], [3, 1]).is_some());
    /// assert!(Matrix::new(&data, [5, 6], [0, 1]).is_some(), "a repeated row");
    /// assert!(Matrix::new(&data, [3, 3], [3, 1]).is_none());
    /// ```
    #[must_use]
    pub fn new(data: &'a [T], sizes: [usize; 2], strides: [usize; 2]) -> Option<Self> {
        // SAFETY: every entry is inside the borrowed slice.
        is_in_bounds(data.len(), sizes, strides)
            .then(|| unsafe { Self::from_raw(data.as_ptr(), sizes, strides.map(stride_to_isize)) })
    }

    /// Returns a view of `[rows, columns]` whose entry `[0, 0]` is at `data`. Strides are in elements and may be negative.
    ///
    /// ```
    /// use kernels_cpu::gemm::Matrix;
    /// let data = [1, 2, 3];
    /// // SAFETY: the three entries are those of `data`, last to first.
    /// let backwards = unsafe { Matrix::from_raw(&data[2], [1, 3], [0, -1]) };
    /// assert_eq!(backwards.sizes(), [1, 3]);
    /// ```
    ///
    /// # Safety
    ///
    /// Every entry can be read, and no entry is written, during `'a`.
    #[must_use]
    #[inline]
    pub const unsafe fn from_raw(data: *const T, sizes: [usize; 2], strides: [isize; 2]) -> Self {
        let ([rows, columns], [row_stride, column_stride]) = (sizes, strides);
        Self { data, rows, columns, row_stride, column_stride, lifetime: PhantomData }
    }

    /// Returns the block of `sizes` whose first entry is at `row` and `column`.
    pub(super) const fn submatrix(self, row: usize, column: usize, [rows, columns]: [usize; 2]) -> Self {
        Self { data: self.entry_pointer(row, column), rows, columns, ..self }
    }
}

impl<'a, T> MatrixMut<'a, T> {
    /// Returns a view of `[rows, columns]` that starts at the first element of `data`; `None` if it would leave `data`, or if two entries
    /// might share an element.
    ///
    /// ```
    /// use kernels_cpu::gemm::MatrixMut;
    /// let mut data = [0.0_f64; 6];
    /// assert!(MatrixMut::new(&mut data, [2, 3], [3, 1]).is_some());
    /// assert!(MatrixMut::new(&mut data, [5, 6], [0, 1]).is_none(), "a repeated row");
    /// ```
    #[must_use]
    pub fn new(data: &'a mut [T], sizes: [usize; 2], strides: [usize; 2]) -> Option<Self> {
        (is_in_bounds(data.len(), sizes, strides) && (sizes.contains(&0) || has_distinct_entries(sizes, strides)))
            // SAFETY: every entry is inside the uniquely borrowed slice, and no two share an element.
            .then(|| unsafe { Self::from_raw(data.as_mut_ptr(), sizes, strides.map(stride_to_isize)) })
    }

    /// Returns a view of `[rows, columns]` whose entry `[0, 0]` is at `data`. Strides are in elements and may be negative.
    ///
    /// ```
    /// use kernels_cpu::gemm::{Matrix, MatrixMut, gemm};
    /// let mut data = [1, 2, 3];
    /// // SAFETY: the entry is the last element, which nothing else uses.
    /// let last = unsafe { MatrixMut::from_raw(&mut data[2], [1, 1], [0, 0]) };
    /// let two = Matrix::new(&[2], [1, 1], [1, 1]).unwrap();
    /// gemm(1, two, two, 1, last);
    /// assert_eq!(data, [1, 2, 7]);
    /// ```
    ///
    /// # Safety
    ///
    /// Every entry can be read and written, no two share memory, and no other code uses one, during `'a`.
    #[must_use]
    #[inline]
    pub const unsafe fn from_raw(data: *mut T, sizes: [usize; 2], strides: [isize; 2]) -> Self {
        let ([rows, columns], [row_stride, column_stride]) = (sizes, strides);
        Self { data, rows, columns, row_stride, column_stride, lifetime: PhantomData }
    }
}

/// The methods that `Matrix` and `MatrixMut` share.
macro_rules! shared_methods {
    ($matrix:ident, $pointer:ty, $entries:literal) => {
        impl<T> $matrix<'_, T> {
            /// Returns the number of rows and of columns.
            ///
            /// ```
            #[doc = concat!("# use kernels_cpu::gemm::", stringify!($matrix), ";")]
            /// # let mut entries = [0; 6];
            #[doc = concat!("let matrix = ", stringify!($matrix), "::new(", $entries, ", [2, 3], [3, 1]).unwrap();")]
            /// assert_eq!(matrix.sizes(), [2, 3]);
            /// ```
            #[must_use]
            #[inline]
            pub const fn sizes(&self) -> [usize; 2] {
                [self.rows, self.columns]
            }

            /// Returns the transposed view.
            ///
            /// ```
            #[doc = concat!("# use kernels_cpu::gemm::", stringify!($matrix), ";")]
            /// # let mut entries = [0; 6];
            #[doc = concat!("let matrix = ", stringify!($matrix), "::new(", $entries, ", [2, 3], [3, 1]).unwrap();")]
            /// assert_eq!(matrix.transposed().sizes(), [3, 2]);
            /// ```
            #[must_use]
            #[inline]
            pub const fn transposed(self) -> Self {
                let Self { data, rows, columns, row_stride, column_stride, lifetime } = self;
                Self {
                    data,
                    rows: columns,
                    columns: rows,
                    row_stride: column_stride,
                    column_stride: row_stride,
                    lifetime,
                }
            }

            /// Returns the address of an entry. The computation wraps: with a negative stride, an intermediate sum may lie outside the
            /// matrix.
            #[inline(always)]
            pub(super) const fn entry_pointer(&self, row: usize, column: usize) -> $pointer {
                self.data.wrapping_offset(
                    row.cast_signed()
                        .wrapping_mul(self.row_stride)
                        .wrapping_add(column.cast_signed().wrapping_mul(self.column_stride)),
                )
            }
        }
    };
}

shared_methods! { Matrix, *const T, "&entries" }
shared_methods! { MatrixMut, *mut T, "&mut entries" }

/// Copies the entries of a matrix to another one of the same sizes.
///
/// # Panics
///
/// Panics if the sizes differ.
pub(super) fn copy_entries<T: Copy>(from: Matrix<'_, T>, to: &MatrixMut<'_, T>) {
    /// The number of entries that are copied at once: a cache line of `f32`.
    const ENTRIES_TOGETHER: usize = 16;
    assert_eq!(from.sizes(), to.sizes(), "the matrices have different sizes");
    let (mut sizes, mut source_strides) = (to.sizes(), [from.row_stride, from.column_stride]);
    let mut target_strides = [to.row_stride, to.column_stride];
    if target_strides[0].unsigned_abs() > target_strides[1].unsigned_abs() {
        sizes.reverse();
        source_strides.reverse();
        target_strides.reverse();
    }
    let [rows, columns] = sizes;
    let in_blocks = if source_strides[0] == 1 && target_strides[0] == 1 { rows - rows % ENTRIES_TOGETHER } else { 0 };
    vectorised!({
        for column in 0..columns {
            let source = from.data.wrapping_offset(source_strides[1] * column.cast_signed());
            let target = to.data.wrapping_offset(target_strides[1] * column.cast_signed());
            // SAFETY: both matrices have these entries, which can be read or written. Entries that are copied together are adjacent.
            unsafe {
                for row in (0..in_blocks).step_by(ENTRIES_TOGETHER) {
                    let entries = source.add(row).cast::<[T; ENTRIES_TOGETHER]>().read_unaligned();
                    target.add(row).cast::<[T; ENTRIES_TOGETHER]>().write_unaligned(entries);
                }
                for row in (in_blocks..rows).map(usize::cast_signed) {
                    *target.wrapping_offset(target_strides[0] * row) = *source.wrapping_offset(source_strides[0] * row);
                }
            }
        }
    });
}

impl<'a, T> Batch<'a, T> {
    /// Returns a view of `[matrices, rows, columns]` that starts at the first element of `data`; `None` if it would leave `data`.
    ///
    /// ```
    /// use kernels_cpu::gemm::Batch;
    /// let data = [0.0_f64; 6];
    /// assert!(Batch::new(&data, [7, 2, 3], [0, 3, 1]).is_some(), "one matrix, seven times");
    /// assert!(Batch::new(&data, [2, 2, 3], [6, 3, 1]).is_none());
    /// ```
    #[must_use]
    pub fn new(data: &'a [T], sizes: [usize; 3], strides: [usize; 3]) -> Option<Self> {
        // SAFETY: every entry is inside the borrowed slice.
        is_in_bounds(data.len(), sizes, strides)
            .then(|| unsafe { Self::from_raw(data.as_ptr(), sizes, strides.map(stride_to_isize)) })
    }

    /// Returns a view of `[matrices, rows, columns]` whose entry `[0, 0, 0]` is at `data`. Strides are in elements and may be negative.
    ///
    /// ```
    /// use kernels_cpu::gemm::Batch;
    /// let data = [1, 2, 3];
    /// // SAFETY: the three matrices are the elements of `data`.
    /// assert_eq!(unsafe { Batch::from_raw(data.as_ptr(), [3, 1, 1], [1, 0, 0]) }.len(), 3);
    /// ```
    ///
    /// # Safety
    ///
    /// Every entry can be read, and no entry is written, during `'a`.
    #[must_use]
    #[inline]
    pub const unsafe fn from_raw(data: *const T, sizes: [usize; 3], strides: [isize; 3]) -> Self {
        let ([count, rows, columns], [stride, row_stride, column_stride]) = (sizes, strides);
        // SAFETY: guaranteed by the caller.
        let first = unsafe { Matrix::from_raw(data, [rows, columns], [row_stride, column_stride]) };
        Self { first, count, stride }
    }

    /// Returns the number of matrices.
    ///
    /// ```
    /// # use kernels_cpu::gemm::Batch;
    /// assert_eq!(Batch::new(&[0; 6], [6, 1, 1], [1, 1, 1]).unwrap().len(), 6);
    /// ```
    #[must_use]
    #[inline]
    #[expect(clippy::len_without_is_empty, reason = "no caller needs `is_empty`")]
    pub const fn len(&self) -> usize {
        self.count
    }

    pub(super) const fn get(&self, index: usize) -> Matrix<'a, T> {
        Matrix { data: self.first.data.wrapping_offset(index.cast_signed() * self.stride), ..self.first }
    }
}

impl<'a, T> BatchMut<'a, T> {
    /// Returns a view of `[matrices, rows, columns]` that starts at the first element of `data`; `None` if it would leave `data`, or if two
    /// entries might share an element.
    ///
    /// ```
    /// use kernels_cpu::gemm::BatchMut;
    /// let mut data = [0.0_f64; 6];
    /// assert!(BatchMut::new(&mut data, [2, 1, 3], [3, 3, 1]).is_some());
    /// assert!(BatchMut::new(&mut data, [2, 1, 3], [0, 3, 1]).is_none());
    /// ```
    #[must_use]
    pub fn new(data: &'a mut [T], sizes: [usize; 3], strides: [usize; 3]) -> Option<Self> {
        (is_in_bounds(data.len(), sizes, strides) && (sizes.contains(&0) || has_distinct_entries(sizes, strides)))
            // SAFETY: every entry is inside the uniquely borrowed slice, and no two share an element.
            .then(|| unsafe { Self::from_raw(data.as_mut_ptr(), sizes, strides.map(stride_to_isize)) })
    }

    /// Returns a view of `[matrices, rows, columns]` whose entry `[0, 0, 0]` is at `data`. Strides are in elements and may be negative.
    ///
    /// ```
    /// use kernels_cpu::gemm::BatchMut;
    /// let mut data = [1, 2, 3];
    /// // SAFETY: the three matrices are the elements of `data`.
    /// assert_eq!(unsafe { BatchMut::from_raw(data.as_mut_ptr(), [3, 1, 1], [1, 0, 0]) }.len(), 3);
    /// ```
    ///
    /// # Safety
    ///
    /// Every entry can be read and written, no two share memory, and no other code uses one, during `'a`.
    #[must_use]
    #[inline]
    pub const unsafe fn from_raw(data: *mut T, sizes: [usize; 3], strides: [isize; 3]) -> Self {
        let ([count, rows, columns], [stride, row_stride, column_stride]) = (sizes, strides);
        // SAFETY: guaranteed by the caller.
        let first = unsafe { MatrixMut::from_raw(data, [rows, columns], [row_stride, column_stride]) };
        Self { first, count, stride }
    }

    /// Returns the number of matrices.
    ///
    /// ```
    /// # use kernels_cpu::gemm::BatchMut;
    /// assert_eq!(BatchMut::new(&mut [0; 6], [6, 1, 1], [1, 1, 1]).unwrap().len(), 6);
    /// ```
    #[must_use]
    #[inline]
    #[expect(clippy::len_without_is_empty, reason = "no caller needs `is_empty`")]
    pub const fn len(&self) -> usize {
        self.count
    }

    pub(super) const fn sizes(&self) -> [usize; 2] {
        self.first.sizes()
    }

    /// # Safety
    ///
    /// No other code has this matrix at the same time.
    pub(super) const unsafe fn get(&self, index: usize) -> MatrixMut<'a, T> {
        MatrixMut { data: self.first.data.wrapping_offset(index.cast_signed() * self.stride), ..self.first }
    }
}

impl<T> MatrixMut<'_, T> {
    /// Returns the block of `sizes` whose first entry is at `row` and `column`.
    ///
    /// # Safety
    ///
    /// No other code has one of the block's entries at the same time.
    pub(super) const unsafe fn submatrix(&self, row: usize, column: usize, sizes: [usize; 2]) -> Self {
        Self { data: self.entry_pointer(row, column), rows: sizes[0], columns: sizes[1], ..*self }
    }
}
