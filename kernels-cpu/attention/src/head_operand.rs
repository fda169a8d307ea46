//! Operands of attention: rows of elements for each head of each batch item.
#![expect(unsafe_code, reason = "planes of one result, each written by one thread")]

use std::marker::PhantomData;

use dispatch_runtime::{DType, Operand, broadcast, broadcast_strides};

use crate::{AttentionFloat, QUERIES_PER_BLOCK};
use engine::convert::conversion_function;
use engine::gemm::Matrix;
use engine::math::vectorised;

/// An operand with the elements `[item, head, row, column]`.
pub(super) struct HeadOperand<'a> {
    start: *mut u8,
    dtype: DType,
    sizes: [usize; 4],
    strides: [isize; 4],
    /// Keeps the operand borrowed while the pointer to its elements is used.
    lifetime: PhantomData<&'a Operand<'a>>,
}

// SAFETY: a `HeadOperand` points to elements that operands hold; a caller of `write_rows` promises exclusive use.
unsafe impl Send for HeadOperand<'_> {}
// SAFETY: a `HeadOperand` points to elements that operands hold; a caller of `write_rows` promises exclusive use.
unsafe impl Sync for HeadOperand<'_> {}

impl<'a> HeadOperand<'a> {
    pub(super) fn new(operand: &'a Operand<'_>) -> Self {
        Self::broadcast_to(operand, operand.geometry().sizes())
    }

    /// Returns an operand broadcast to `sizes`. If there are three sizes, rows have one element.
    ///
    /// # Panics
    ///
    /// Panics if the operand does not broadcast to `sizes`, or if there are more than four sizes.
    pub(super) fn broadcast_to(operand: &'a Operand<'_>, sizes: &[i64]) -> Self {
        let own_sizes = operand.geometry().sizes();
        assert!(
            broadcast([sizes, own_sizes]).is_ok_and(|all| all[..] == *sizes),
            "sizes {own_sizes:?} do not broadcast to {sizes:?}"
        );
        let all_strides = broadcast_strides(operand.geometry(), sizes);
        let (start, dtype) = (operand.start(), operand.dtype());
        let mut head_operand = Self { start, dtype, sizes: [1; 4], strides: [0; 4], lifetime: PhantomData };
        for (dim, (&size, &stride)) in sizes.iter().zip(&all_strides).enumerate() {
            head_operand.sizes[dim] = usize::try_from(size).unwrap_or(0);
            head_operand.strides[dim] = isize::try_from(stride).unwrap_or(0);
        }
        head_operand
    }

    pub(super) fn sizes(&self) -> [usize; 4] {
        self.sizes
    }

    fn element_pointer(&self, [item, head, row, column]: [usize; 4]) -> *mut u8 {
        let position = [item, head, row, column];
        assert!(
            position.iter().zip(&self.sizes).all(|(position, size)| position < size),
            "position {position:?} is outside of an operand of sizes {:?}",
            self.sizes
        );
        let steps = position.iter().zip(&self.strides).map(|(position, stride)| position.cast_signed() * stride);
        self.start.wrapping_offset(steps.sum::<isize>() * self.element_size())
    }

    fn element_size(&self) -> isize {
        self.dtype.size().cast_signed()
    }

    /// Returns a row: a view of it or, if its elements have another dtype or are not adjacent, a converted copy in `buffer`.
    pub(super) fn row<'b, T: AttentionFloat>(
        &'b self,
        [item, head, row]: [usize; 3],
        buffer: &'b mut Vec<T>,
    ) -> &'b [T] {
        let width = self.sizes[3];
        if self.is_contiguous_row::<T>() && width > 0 {
            let start = self.element_pointer([item, head, row, 0]).cast::<T>();
            // SAFETY: the row has as many elements, in memory that operands hold.
            return unsafe { std::slice::from_raw_parts(start, width) };
        }
        buffer.resize(width, T::ZERO);
        self.read_row([item, head, row, 0], buffer);
        buffer
    }

    /// Copies elements of a row to `line`, starting at a column, converted to `T`.
    pub(super) fn read_row<T: AttentionFloat>(&self, position: [usize; 4], line: &mut [T]) {
        if line.is_empty() {
            return;
        }
        assert!(
            position[3] + line.len() <= self.sizes[3],
            "{} elements at {position:?} are outside of an operand of sizes {:?}",
            line.len(),
            self.sizes
        );
        let from = self.element_pointer(position);
        // SAFETY: the row has as many elements from there on, in memory that operands hold.
        unsafe {
            if self.is_contiguous_row::<T>() {
                from.cast::<T>().copy_to_nonoverlapping(line.as_mut_ptr(), line.len());
            } else {
                let step = self.strides[3] * self.element_size();
                let size = size_of::<T>().cast_signed();
                conversion_function(self.dtype, T::DTYPE)(from, step, line.as_mut_ptr().cast(), size, line.len());
            }
        }
    }

    /// Returns whether the elements of a row have type `T` and are contiguous.
    fn is_contiguous_row<T: AttentionFloat>(&self) -> bool {
        self.dtype == T::DTYPE && self.strides[3] == 1
    }

    /// Writes consecutive rows from `lines`, converted, from row `first` on.
    ///
    /// # Safety
    ///
    /// The operand is one that the kernel writes, and no other code uses the rows.
    pub(super) unsafe fn write_rows<T: AttentionFloat>(&self, [item, head, first]: [usize; 3], lines: &[T]) {
        let width = self.sizes[3];
        if lines.is_empty() || width == 0 {
            return;
        }
        let count = lines.len() / width;
        assert!(
            first + count <= self.sizes[2],
            "rows {first}.. ({count} rows) are outside of an operand of sizes {:?}",
            self.sizes
        );
        let convert = conversion_function(T::DTYPE, self.dtype);
        let [down, across] = [2, 3].map(|dim| self.strides[dim] * self.element_size());
        let mut to = self.element_pointer([item, head, first, 0]);
        for line in lines.chunks_exact(width) {
            // SAFETY: the row is inside memory that operands hold, and the caller guarantees exclusive use.
            unsafe {
                if self.is_contiguous_row::<T>() {
                    to.cast::<T>().copy_from_nonoverlapping(line.as_ptr(), width);
                } else {
                    convert(line.as_ptr().cast(), size_of::<T>().cast_signed(), to, across, width);
                }
            }
            to = to.wrapping_offset(down);
        }
    }

    /// Returns some rows of a head as a matrix: a view of them or, if they have another dtype, a converted copy in `buffer`.
    pub(super) fn rows_as_matrix<'b, T: AttentionFloat>(
        &'b self,
        [item, head, first]: [usize; 3],
        count: usize,
        buffer: &'b mut Vec<T>,
    ) -> Matrix<'b, T> {
        let width = self.sizes[3];
        if self.dtype == T::DTYPE && count * width > 0 {
            assert!(
                first + count <= self.sizes[2],
                "rows {first}.. ({count} rows) are outside of an operand of sizes {:?}",
                self.sizes
            );
            let start = self.element_pointer([item, head, first, 0]).cast::<T>();
            // SAFETY: the rows are inside memory that operands hold.
            return unsafe { Matrix::from_raw(start, [count, width], [self.strides[2], self.strides[3]]) };
        }
        buffer.resize(count * width, T::ZERO);
        for (row, line) in buffer.chunks_exact_mut(width.max(1)).enumerate() {
            self.read_row([item, head, first + row, 0], line);
        }
        // SAFETY: `buffer` has as many elements as the matrix.
        unsafe { Matrix::from_raw(buffer.as_ptr(), [count, width], [width.cast_signed(), 1]) }
    }

    /// Copies some rows of a head, transposed and multiplied by a factor.
    pub(super) fn read_rows_transposed<T: AttentionFloat>(
        &self,
        [item, head, first]: [usize; 3],
        count: usize,
        factor: T,
        transposed: &mut [[T; QUERIES_PER_BLOCK]],
    ) {
        let width = self.sizes[3].min(transposed.len());
        if self.dtype == T::DTYPE && count * width > 0 {
            assert!(
                first + count <= self.sizes[2] && count <= QUERIES_PER_BLOCK,
                "rows {first}.. ({count} rows) are outside of an operand of sizes {:?} or of a block",
                self.sizes
            );
            let start = self.element_pointer([item, head, first, 0]).cast::<T>();
            let [down, across] = [self.strides[2], self.strides[3]];
            vectorised!({
                for (column, elements) in transposed[..width].iter_mut().enumerate() {
                    let start = start.wrapping_offset(across * column.cast_signed());
                    for (row, element) in elements[..count].iter_mut().enumerate() {
                        // SAFETY: the operand has the element, in memory that operands hold.
                        *element = unsafe { start.wrapping_offset(down * row.cast_signed()).read() }.times(factor);
                    }
                }
            });
            return;
        }
        let mut line = vec![T::ZERO; width];
        for row in 0..count {
            self.read_row([item, head, first + row, 0], &mut line);
            for (column, element) in transposed.iter_mut().zip(&line) {
                column[row] = element.times(factor);
            }
        }
    }
}
