//! Operands of attention: rows of elements for each head of each batch item.
#![expect(unsafe_code, reason = "planes of one result, each written by one thread")]

use std::marker::PhantomData;

use dispatch_runtime::{DType, Operand, broadcast, broadcast_strides};

use crate::{Number, QUERIES};
use engine::convert::conversion;
use engine::gemm::Matrix;

/// An operand with the elements `[item, head, row, column]`.
pub(super) struct HeadOperand<'a> {
    start: *mut u8,
    dtype: DType,
    sizes: [usize; 4],
    strides: [isize; 4],
    /// The borrow of the operand.
    lent: PhantomData<&'a Operand<'a>>,
}

// SAFETY: it is a pointer to elements that operands hold; a caller of `write` promises exclusive use.
unsafe impl Send for HeadOperand<'_> {}
// SAFETY: it is a pointer to elements that operands hold; a caller of `write` promises exclusive use.
unsafe impl Sync for HeadOperand<'_> {}

impl<'a> HeadOperand<'a> {
    pub(super) fn of(operand: &'a Operand<'_>) -> Self {
        Self::stretched(operand, operand.geometry().sizes())
    }

    /// Returns an operand broadcast to `sizes`. If there are three sizes, rows have one element.
    ///
    /// # Panics
    ///
    /// Panics if the operand does not broadcast to `sizes`, or if there are more than four sizes.
    pub(super) fn stretched(operand: &'a Operand<'_>, sizes: &[i64]) -> Self {
        let own = operand.geometry().sizes();
        assert!(broadcast([sizes, own]).is_ok_and(|all| all[..] == *sizes), "{own:?} do not broadcast to {sizes:?}");
        let walked = broadcast_strides(operand.geometry(), sizes);
        let (start, dtype) = (operand.start(), operand.dtype());
        let mut side = Self { start, dtype, sizes: [1; 4], strides: [0; 4], lent: PhantomData };
        for (dim, (&size, &stride)) in sizes.iter().zip(&walked).enumerate() {
            side.sizes[dim] = usize::try_from(size).unwrap_or(0);
            side.strides[dim] = isize::try_from(stride).unwrap_or(0);
        }
        side
    }

    pub(super) fn sizes(&self) -> [usize; 4] {
        self.sizes
    }

    fn at(&self, [item, head, row, column]: [usize; 4]) -> *mut u8 {
        let place = [item, head, row, column];
        assert!(place.iter().zip(&self.sizes).all(|(place, size)| place < size), "{place:?} of {:?}", self.sizes);
        let steps = place.iter().zip(&self.strides).map(|(place, stride)| place.cast_signed() * stride);
        self.start.wrapping_offset(steps.sum::<isize>() * self.bytes())
    }

    fn bytes(&self) -> isize {
        self.dtype.size().cast_signed()
    }

    /// Copies elements of a row, from a column on, converted to `T`.
    pub(super) fn read<T: Number>(&self, place: [usize; 4], line: &mut [T]) {
        if line.is_empty() {
            return;
        }
        assert!(place[3] + line.len() <= self.sizes[3], "{} elements from {place:?} of {:?}", line.len(), self.sizes);
        let from = self.at(place);
        // SAFETY: the row has as many elements from there on, in memory that operands hold.
        unsafe {
            if self.is_side_by_side::<T>() {
                from.cast::<T>().copy_to_nonoverlapping(line.as_mut_ptr(), line.len());
            } else {
                let step = self.strides[3] * self.bytes();
                let size = size_of::<T>().cast_signed();
                conversion(self.dtype, T::DTYPE)(from, step, line.as_mut_ptr().cast(), size, line.len());
            }
        }
    }

    /// Returns whether the elements of a row have type `T` and are contiguous.
    fn is_side_by_side<T: Number>(&self) -> bool {
        self.dtype == T::DTYPE && self.strides[3] == 1
    }

    /// Writes consecutive rows from `lines`, converted, from row `first` on.
    ///
    /// # Safety
    ///
    /// It is a written operand, and no other code uses the rows.
    pub(super) unsafe fn write<T: Number>(&self, [item, head, first]: [usize; 3], lines: &[T]) {
        let width = self.sizes[3];
        if lines.is_empty() || width == 0 {
            return;
        }
        let count = lines.len() / width;
        assert!(first + count <= self.sizes[2], "{count} rows from {first} of {:?}", self.sizes);
        let convert = conversion(T::DTYPE, self.dtype);
        let [down, across] = [2, 3].map(|dim| self.strides[dim] * self.bytes());
        let mut to = self.at([item, head, first, 0]);
        for line in lines.chunks_exact(width) {
            // SAFETY: the row is inside memory that operands hold, and the caller guarantees exclusive use.
            unsafe {
                if self.is_side_by_side::<T>() {
                    to.cast::<T>().copy_from_nonoverlapping(line.as_ptr(), width);
                } else {
                    convert(line.as_ptr().cast(), size_of::<T>().cast_signed(), to, across, width);
                }
            }
            to = to.wrapping_offset(down);
        }
    }

    /// Returns some rows of a head as a matrix: a view of them or, if they have another dtype, a converted copy in `own`.
    pub(super) fn matrix<'b, T: Number>(
        &'b self,
        [item, head, first]: [usize; 3],
        count: usize,
        own: &'b mut Vec<T>,
    ) -> Matrix<'b, T> {
        let width = self.sizes[3];
        if self.dtype == T::DTYPE && count * width > 0 {
            assert!(first + count <= self.sizes[2], "{count} rows from {first} of {:?}", self.sizes);
            let start = self.at([item, head, first, 0]).cast::<T>();
            // SAFETY: the rows are inside memory that operands hold.
            return unsafe { Matrix::from_raw(start, [count, width], [self.strides[2], self.strides[3]]) };
        }
        own.resize(count * width, T::ZERO);
        for (row, line) in own.chunks_exact_mut(width.max(1)).enumerate() {
            self.read([item, head, first + row, 0], line);
        }
        // SAFETY: `own` has as many elements.
        unsafe { Matrix::from_raw(own.as_ptr(), [count, width], [width.cast_signed(), 1]) }
    }

    /// Copies some rows of a head, transposed and times a factor.
    pub(super) fn turned<T: Number>(
        &self,
        [item, head, first]: [usize; 3],
        count: usize,
        factor: T,
        turned: &mut [[T; QUERIES]],
    ) {
        let mut line = vec![T::ZERO; self.sizes[3]];
        for row in 0..count {
            self.read([item, head, first + row, 0], &mut line);
            for (column, element) in turned.iter_mut().zip(&line) {
                column[row] = element.times(factor);
            }
        }
    }
}
