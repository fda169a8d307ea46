//! Matrix products over strided views: `C = alpha A B + beta C`.
//!
//! Where `beta` is zero, `C` is written and never read: it may hold anything, not-a-numbers included. Half-precision
//! entries are multiplied and added up as `f32` and rounded once; integers wrap.
//!
//! A product takes one of four ways, by its shape: the plain loop, where setting anything up would cost more than the
//! product; rows or columns times a vector, which is bound by memory; the blocked loop of integers; and for the rest
//! micro-kernels of the `gemm` crates, one block of `C` per call, spread over this backend's threads.
#![expect(unsafe_code, reason = "views of entries without bounds checks")]

mod blocked;
mod complex;
mod entry;
mod plain;
mod split;
mod vector;
mod view;
mod widened;

pub use entry::Entry;
pub use view::{Batch, BatchMut, Matrix, MatrixMut};

use crate::thread_pool;
use dispatch_runtime::Arithmetic;
use entry::Kind;

/// Up to this many multiply-adds the plain loop wins.
const PLAIN: usize = 1 << 10;

/// Multiply-adds that are worth a thread: a few microseconds.
const GRAIN: usize = 1 << 18;

/// `C = alpha A B + beta C`.
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
/// Where `A` is not `C`'s rows by some number and `B` that number by `C`'s columns.
#[inline]
pub fn gemm<T: Entry>(alpha: T::Sum, a: Matrix<'_, T>, b: Matrix<'_, T>, beta: T::Sum, c: MatrixMut<'_, T>) {
    let work = agree(a.sizes(), b.sizes(), c.sizes());
    // Without columns there may be any number of rows.
    if c.sizes().contains(&0) {
        return;
    }
    if work <= PLAIN {
        plain::product(alpha, a, b, beta, &c);
    } else {
        large(alpha, a, b, beta, c);
    }
}

/// As many products as the three batches hold: `C[i] = alpha A[i] B[i] + beta C[i]`.
///
/// ```
/// use kernels_cpu::gemm::{Batch, BatchMut, batched};
/// let rows = [1, 2, 3, 4];
/// let mut squares = [0; 2];
/// let a = Batch::new(&rows, [2, 1, 2], [2, 2, 1]).unwrap();
/// let b = Batch::new(&rows, [2, 2, 1], [2, 1, 1]).unwrap();
/// batched(1, a, b, 0, BatchMut::new(&mut squares, [2, 1, 1], [1, 1, 1]).unwrap());
/// assert_eq!(squares, [5, 25]);
/// ```
///
/// # Panics
///
/// Where the batches are not of one length, or as [`gemm()`] does.
#[expect(clippy::needless_pass_by_value, reason = "the batch is lent for this product, as `gemm` has it")]
pub fn batched<T: Entry>(alpha: T::Sum, a: Batch<'_, T>, b: Batch<'_, T>, beta: T::Sum, c: BatchMut<'_, T>) {
    let count = c.len();
    assert!(a.len() == count && b.len() == count, "batches of {}, {} and {count} products", a.len(), b.len());
    if count == 0 || c.sizes().contains(&0) {
        return;
    }
    let each = agree(a.get(0).sizes(), b.get(0).sizes(), c.sizes());
    // Where there are fewer products than threads, the threads work inside of each one.
    let grain = if count < thread_pool::threads_here() { count } else { GRAIN.div_ceil(each.max(1)) };
    thread_pool::parallel_for(0..count, grain, |piece| {
        for index in piece {
            // SAFETY: every product is in one piece, and so is every entry of `c` in one product.
            let c = unsafe { c.get(index) };
            gemm(alpha, a.get(index), b.get(index), beta, c);
        }
    });
}

/// How many multiply-adds it takes.
#[inline]
fn agree(a: [usize; 2], b: [usize; 2], c: [usize; 2]) -> usize {
    assert!(
        a[0] == c[0] && a[1] == b[0] && b[1] == c[1],
        "{}x{} times {}x{} is no {}x{}",
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
fn large<T: Entry>(alpha: T::Sum, a: Matrix<'_, T>, b: Matrix<'_, T>, beta: T::Sum, c: MatrixMut<'_, T>) {
    if c.columns == 1 {
        vector::product(alpha, a, b, beta, &c);
    } else if c.rows == 1 {
        vector::product(alpha, b.transposed(), a.transposed(), beta, &c.transposed());
    } else {
        T::large(alpha, a, b, beta, c);
    }
}

/// What becomes of an entry of `C`. It is read only where it counts.
///
/// # Safety
///
/// `entry` can be written, and nobody else looks at it.
#[inline(always)]
unsafe fn store<T: Kind>(entry: *mut T, alpha: T::Sum, product: T::Sum, beta: T::Sum) {
    let scaled = alpha.times(product);
    // SAFETY: the caller's promise.
    unsafe {
        let value = if beta == T::Sum::ZERO { scaled } else { scaled.plus(beta.times((*entry).widen())) };
        *entry = T::narrow(value);
    }
}

#[cfg(test)]
mod tests;
