//! Matrix products over strided views: `C = alpha A B + beta C`.
//!
//! If `beta` is zero, `C` is only written, so it may hold anything, NaN included. `f16` and `bf16` entries are multiplied and summed as
//! `f32` and rounded once; integers wrap.
//!
//! The shape of a product chooses one of four algorithms: the plain loop for tiny products; a matrix-vector loop, which is bound by memory;
//! the blocked loop for integers; and for all others the micro-kernels of the `gemm` crates, one block of `C` per call, on this backend's
//! threads.
#![expect(unsafe_code, reason = "views of entries without bounds checks")]

mod complex;
mod entry;
mod floating_point;
mod half_precision;
mod integer;
mod matrix_vector;
mod naive;
mod view;

pub use entry::Entry;
pub use view::{Batch, BatchMut, Matrix, MatrixMut};

use crate::thread_pool;
use dispatch_runtime::Arithmetic;
use entry::EntryImpl;

/// The largest number of multiply-adds for which the plain loop is fastest.
const MAX_NAIVE_PRODUCT: usize = 1 << 10;

/// The fewest multiply-adds that are worth a thread: a few microseconds.
const GRAIN_SIZE: usize = 1 << 18;

/// Computes a matrix product, `C = alpha A B + beta C`.
///
/// ```
/// use kernels_cpu::gemm::{Matrix, MatrixMut, gemm};
/// let a = [1.0_f32, 2.0, 3.0, 4.0];
/// let mut c = [f32::NAN; 4];
/// let by_rows = Matrix::new(&a, [2, 2], [2, 1]).unwrap();
/// let by_columns = Matrix::new(&a, [2, 2], [1, 2]).unwrap();
/// gemm(1.0, by_rows, by_columns, 0.0, MatrixMut::new(&mut c, [2, 2], [2, 1]).unwrap());
/// assert_eq!(c, [5.0, 11.0, 11.0, 25.0]);
/// ```
///
/// # Panics
///
/// Panics if the sizes disagree: `A` must have `C`'s rows, `B` must have `C`'s columns, and `A` must have as many columns as `B` has rows.
#[inline]
pub fn gemm<T: Entry>(alpha: T::Sum, a: Matrix<'_, T>, b: Matrix<'_, T>, beta: T::Sum, c: MatrixMut<'_, T>) {
    let work = checked_multiply_add_count(a.sizes(), b.sizes(), c.sizes());
    // Without columns the number of rows can be arbitrarily large.
    if c.sizes().contains(&0) {
        return;
    }
    if work <= MAX_NAIVE_PRODUCT {
        naive::product(alpha, a, b, beta, &c);
    } else {
        large_product(alpha, a, b, beta, c);
    }
}

/// Computes a matrix product and adds a third matrix, `C = alpha A B + beta S`. It is faster than to copy the summand first: a block of `C`
/// is still in the cache when its product is added.
///
/// ```
/// use kernels_cpu::gemm::{Matrix, MatrixMut, gemm_with_summand};
/// let (a, bias, mut c) = ([1.0_f32, 2.0], [10.0, 20.0], [f32::NAN; 4]);
/// let column = Matrix::new(&a, [2, 1], [1, 1]).unwrap();
/// let every_row = Matrix::new(&bias, [2, 2], [0, 1]).unwrap();
/// let c_view = MatrixMut::new(&mut c, [2, 2], [2, 1]).unwrap();
/// gemm_with_summand(1.0, column, column.transposed(), 0.5, every_row, c_view);
/// assert_eq!(c, [6.0, 12.0, 7.0, 14.0]);
/// ```
///
/// # Panics
///
/// Panics if the sizes disagree as for [`gemm()`], or if the summand has other sizes than `C`.
pub fn gemm_with_summand<T: Entry>(
    alpha: T::Sum,
    a: Matrix<'_, T>,
    b: Matrix<'_, T>,
    beta: T::Sum,
    summand: Matrix<'_, T>,
    c: MatrixMut<'_, T>,
) {
    let work = checked_multiply_add_count(a.sizes(), b.sizes(), c.sizes());
    assert_eq!(summand.sizes(), c.sizes(), "the summand has other sizes than the result");
    if work > MAX_NAIVE_PRODUCT && c.rows > 1 && c.columns > 1 {
        T::large_product_with_summand(alpha, a, b, beta, summand, c);
    } else {
        view::copy_entries(summand, &c);
        gemm(alpha, a, b, beta, c);
    }
}

/// Computes a batch of matrix products: `C[i] = alpha A[i] B[i] + beta C[i]`.
///
/// ```
/// use kernels_cpu::gemm::{Batch, BatchMut, batched_gemm};
/// let rows = [1, 2, 3, 4];
/// let mut squares = [0; 2];
/// let a = Batch::new(&rows, [2, 1, 2], [2, 2, 1]).unwrap();
/// let b = Batch::new(&rows, [2, 2, 1], [2, 1, 1]).unwrap();
/// batched_gemm(1, a, b, 0, BatchMut::new(&mut squares, [2, 1, 1], [1, 1, 1]).unwrap());
/// assert_eq!(squares, [5, 25]);
/// ```
///
/// # Panics
///
/// Panics if the batches differ in length, or if the sizes of the matrices disagree as for [`gemm()`].
#[expect(clippy::needless_pass_by_value, reason = "the same signature as `gemm`")]
pub fn batched_gemm<T: Entry>(alpha: T::Sum, a: Batch<'_, T>, b: Batch<'_, T>, beta: T::Sum, c: BatchMut<'_, T>) {
    let count = c.len();
    assert!(
        a.len() == count && b.len() == count,
        "the batches have different lengths: {}, {} and {count}",
        a.len(),
        b.len()
    );
    if count == 0 || c.sizes().contains(&0) {
        return;
    }
    let each = checked_multiply_add_count(a.get(0).sizes(), b.get(0).sizes(), c.sizes());
    // If there are fewer products than threads, the threads divide each product.
    let grain = if count < thread_pool::region_thread_count() { count } else { GRAIN_SIZE.div_ceil(each.max(1)) };
    thread_pool::parallel_for(0..count, grain, |piece| {
        for index in piece {
            // SAFETY: every product is in one piece, and every entry of `c` is in one product.
            let c = unsafe { c.get(index) };
            gemm(alpha, a.get(index), b.get(index), beta, c);
        }
    });
}

/// Checks that the sizes agree, and returns the number of multiply-adds.
#[inline]
fn checked_multiply_add_count(a: [usize; 2], b: [usize; 2], c: [usize; 2]) -> usize {
    assert!(
        a[0] == c[0] && a[1] == b[0] && b[1] == c[1],
        "sizes do not match: {}x{} times {}x{} is not {}x{}",
        a[0],
        a[1],
        b[0],
        b[1],
        c[0],
        c[1]
    );
    c[0].saturating_mul(c[1]).saturating_mul(a[1])
}

#[inline(never)]
fn large_product<T: Entry>(alpha: T::Sum, a: Matrix<'_, T>, b: Matrix<'_, T>, beta: T::Sum, c: MatrixMut<'_, T>) {
    if c.columns == 1 {
        matrix_vector::product(alpha, a, b, beta, &c);
    } else if c.rows == 1 {
        matrix_vector::product(alpha, b.transposed(), a.transposed(), beta, &c.transposed());
    } else {
        T::large_product(alpha, a, b, beta, c);
    }
}

/// Writes `alpha * product + beta * entry` to an entry of `C`. If `beta` is zero, the entry is not read.
///
/// # Safety
///
/// `entry` can be written, and no other code uses it. If `beta` is not zero, it is initialised.
#[inline(always)]
unsafe fn store_entry<T: EntryImpl>(entry: *mut T, alpha: T::Sum, product: T::Sum, beta: T::Sum) {
    let scaled = alpha.times(product);
    // SAFETY: guaranteed by the caller.
    unsafe {
        let value = if beta == T::Sum::ZERO { scaled } else { scaled.plus(beta.times((*entry).widen_to_sum())) };
        *entry = T::narrow_from_sum(value);
    }
}

#[cfg(test)]
mod tests;
