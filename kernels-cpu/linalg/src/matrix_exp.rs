//! Kernel of exponentials of matrices: a Taylor polynomial of a scaled matrix, squared as often as the matrix was halved.
//!
//! Squares multiply rounding errors, so all dtypes are computed in double precision.

use dispatch_runtime::Complex64;
use dispatch_runtime::prelude::*;
use engine::allocation::filled_vec;
use engine::contiguous::{contiguous_elements, write_contiguous};
use engine::thread_pool;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

use crate::matrices::{for_each_piece, matrices_per_piece, matrix_sizes};
use crate::number::Number;
use crate::spectra::{not_a_number, try_for_each_piece};

/// The degrees of Taylor polynomials, with the powers of the matrix that the evaluation needs, and the largest norms for which the error is
/// a rounding error (P. Bader, S. Blanes, F. Casas 2019; A. Al-Mohy, N. Higham 2011).
const POLYNOMIALS: [(usize, usize, f64); 5] = [
    (2, 2, 2.580_956_802_971_767e-8),
    (4, 2, 3.397_168_839_976_962e-4),
    (9, 3, 4.991_228_871_115_323e-2),
    (12, 4, 2.996_158_913_811_58e-1),
    (16, 4, 6.4e-1),
];

/// The multiplications of matrices for one exponential, about.
const PRODUCT_COUNT: usize = 8;

/// The fewest multiply-adds of a product that are worth a second thread.
const MIN_PARALLEL_WORK: usize = 1 << 18;

/// The elements of the transposed matrices are read and written in column-major order, since the exponential of the transposed matrix is the
/// transposed exponential.
#[op_impl(aten::linalg_matrix_exp, CPU)]
fn linalg_matrix_exp(_plan: &(), out: &mut Tensor, this: &Tensor) -> Result<()> {
    if this.dtype().is_complex() { compute_batch::<Complex64>(out, this) } else { compute_batch::<f64>(out, this) }
}

fn compute_batch<T: Number<Real = f64>>(out: &mut Tensor, this: &Tensor) -> Result<()> {
    let size = matrix_sizes(this)[0];
    let elements = contiguous_elements::<T>(this)?;
    write_contiguous(out, |out: &mut [T]| {
        let square = size * size;
        let step = matrices_per_piece(out.len() / square, PRODUCT_COUNT * square * size);
        let pieces = out.chunks_mut(step * square).zip(elements.chunks(step * square));
        try_for_each_piece(pieces, |(out, matrices)| {
            let mut exponential = Exponential::new(size)?;
            for (out, matrix) in out.chunks_exact_mut(square).zip(matrices.chunks_exact(square)) {
                exponential.compute(matrix, out);
            }
            Ok(())
        })
    })
}

/// The memory for exponentials of matrices of one size.
struct Exponential<T> {
    size: usize,
    /// The matrix and its powers.
    powers: Vec<Vec<T>>,
    product: Vec<T>,
}

impl<T: Number<Real = f64>> Exponential<T> {
    fn new(size: usize) -> Result<Self> {
        let zeros = || filled_vec(T::ZERO, size * size);
        let powers = (0..4).map(|_| zeros()).collect::<std::result::Result<_, _>>()?;
        Ok(Self { size, powers, product: zeros()? })
    }

    /// Computes the exponential of a matrix.
    fn compute(&mut self, matrix: &[T], out: &mut [T]) {
        let norm = self.largest_column_sum(matrix);
        if !norm.is_finite() {
            return out.fill(not_a_number());
        }
        let last = POLYNOMIALS[POLYNOMIALS.len() - 1];
        let (degree, power_count, _) = *POLYNOMIALS.iter().find(|(_, _, limit)| norm <= *limit).unwrap_or(&last);
        let halvings = (norm / last.2).log2().ceil().max(0.0);
        let scale = (-halvings).exp2();
        self.powers[0].iter_mut().zip(matrix).for_each(|(to, element)| *to = element.scaled(scale));
        for power in 1..power_count {
            let (lower, higher) = self.powers.split_at_mut(power);
            multiply(&lower[0], &lower[power - 1], &mut higher[0], self.size);
        }
        self.evaluate(degree, power_count, out);
        for _ in 0..to_count(halvings) {
            multiply(out, out, &mut self.product, self.size);
            out.copy_from_slice(&self.product);
        }
    }

    /// Evaluates the Taylor polynomial of a degree that is a multiple of the number of powers.
    fn evaluate(&mut self, degree: usize, power_count: usize, out: &mut [T]) {
        let coefficients: Vec<f64> = (0_u32..)
            .take(degree + 1)
            .scan(1.0, |inverse_factorial: &mut f64, k| {
                *inverse_factorial /= f64::from(k.max(1));
                Some(*inverse_factorial)
            })
            .collect();
        out.iter_mut().zip(&self.powers[power_count - 1]).for_each(|(to, x)| *to = x.scaled(coefficients[degree]));
        for first in (0..degree).step_by(power_count).rev() {
            if first + power_count < degree {
                multiply(out, &self.powers[power_count - 1], &mut self.product, self.size);
                out.copy_from_slice(&self.product);
            }
            for (power, &coefficient) in self.powers.iter().zip(&coefficients[first + 1..first + power_count]) {
                out.iter_mut().zip(power).for_each(|(to, x)| *to = to.plus(x.scaled(coefficient)));
            }
            let constant = T::from_real(coefficients[first]);
            out.iter_mut().step_by(self.size + 1).for_each(|to| *to = to.plus(constant));
        }
    }

    /// Returns the largest sum of magnitudes of a column.
    fn largest_column_sum(&self, matrix: &[T]) -> f64 {
        let column_sums = matrix
            .chunks_exact(self.size)
            .map(|column| column.iter().map(|x| x.real().hypot(x.imaginary())).sum::<f64>());
        column_sums.fold(0.0, |largest, sum| if sum > largest || sum.is_nan() { sum } else { largest })
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of halvings is below 1100")]
fn to_count(halvings: f64) -> usize {
    halvings as usize
}

/// Multiplies two square matrices, on the threads of this backend if they are large.
fn multiply<T: Number>(left: &[T], right: &[T], product: &mut [T], size: usize) {
    let threads = thread_pool::region_thread_count().min(size * size * size / MIN_PARALLEL_WORK).max(1);
    let width = if threads == 1 { size } else { size.div_ceil(2 * threads) };
    let pieces = product.chunks_mut(width * size).zip(right.chunks(width * size));
    for_each_piece(pieces, |(product, right)| {
        let columns = product.len() / size;
        matmul(
            MatMut::from_column_major_slice_mut(product, size, columns),
            Accum::Replace,
            MatRef::from_column_major_slice(left, size, size),
            MatRef::from_column_major_slice(right, size, columns),
            T::ONE,
            Par::Seq,
        );
    });
}
