//! Householder reflectors as LAPACK stores them: `H = I - tau v v^H`, with `v` below the diagonal and an implied one on it.

use dispatch_runtime::Arithmetic;
use engine::compute::{ComputeType, RealFloat};
use engine::math::Real;
use engine::math::vectorised;
use faer::linalg::matmul::{matmul, matmul_with_conj};
use faer::prelude::{Reborrow, ReborrowMut};
use faer::{Accum, Conj, MatMut, MatRef, Par};

use crate::blocks::{column_groups, columns_per_thread, subtract_product, view, view_mut};
use crate::matrices::for_each_piece;
use crate::number::{Number, RealOf, magnitude};

/// The widths of the blocks of reflectors that are applied together: those of the whole matrix, and those of a block.
const BLOCK_WIDTHS: [usize; 2] = [48, 8];

/// The number of sums that a dot product keeps.
const LANE_COUNT: usize = 8;

/// Makes a column-major matrix upper triangular, and writes the vectors of the reflectors below its diagonal, and their factors to `tau`.
pub(crate) fn triangularize<T: Number>(matrix: &mut [T], [rows, columns]: [usize; 2], tau: &mut [T]) {
    triangularize_block(matrix, rows, [rows, columns], tau, &BLOCK_WIDTHS);
}

fn triangularize_block<T: Number>(
    block: &mut [T],
    stride: usize,
    [rows, columns]: [usize; 2],
    tau: &mut [T],
    widths: &[usize],
) {
    let (width, inner) = match widths {
        [width, inner @ ..] if tau.len() > *width => (*width, inner),
        [_, inner @ ..] => return triangularize_block(block, stride, [rows, columns], tau, inner),
        [] => return triangularize_column_by_column(block, stride, [rows, columns], tau),
    };
    for (index, tau) in tau.chunks_mut(width).enumerate() {
        let start = index * width;
        let (rows, columns, width) = (rows - start, columns - start, tau.len());
        let block = &mut block[start * stride + start..];
        let (panel, others) = block.split_at_mut((width * stride).min(block.len()));
        triangularize_block(panel, stride, [rows, width], tau, inner);
        if columns > width {
            let reflectors = BlockReflector::new(panel, stride, rows, tau);
            reflectors.apply(true, view_mut(others, rows, columns - width, stride));
        }
    }
}

/// Makes a block upper triangular, one column at a time.
fn triangularize_column_by_column<T: Number>(
    block: &mut [T],
    stride: usize,
    [rows, columns]: [usize; 2],
    tau: &mut [T],
) {
    vectorised(
        #[inline(always)]
        || {
            for (step, tau) in tau.iter_mut().enumerate() {
                let end = block.len().min((step + 1) * stride);
                let (left, right) = block.split_at_mut(end);
                let vector = &mut left[step * stride + step..][..rows - step];
                *tau = make_reflector(vector);
                let (_, tail) = vector.split_at(1);
                let factor = tau.conjugate();
                for column in right.chunks_mut(stride).take(columns - step - 1) {
                    reflect(tail, factor, &mut column[step..rows]);
                }
            }
        },
    );
}

/// Replaces a vector by that of the reflector that maps it to a multiple of the first unit vector, and its first element by that multiple,
/// which is real. Returns the factor of the reflector.
#[inline(always)]
fn make_reflector<T: Number>(vector: &mut [T]) -> T {
    let (head, tail) = vector.split_at_mut(1);
    let (first, rest) = (head[0], norm(tail));
    let zero = RealOf::<T>::ZERO;
    if rest == zero && first.imaginary() == zero {
        return T::ZERO;
    }
    let length = norm_of_two(norm_of_two(first.real(), first.imaginary()), rest);
    let target = if first.real() < zero { length } else { length.negated() };
    let factor = T::from_real(target).minus(first).scaled(RealOf::<T>::ONE / target);
    let scale = T::ONE.divided(first.minus(T::from_real(target)));
    for x in tail.iter_mut() {
        *x = x.times(scale);
    }
    head[0] = T::from_real(target);
    factor
}

/// Returns the Euclidean norm of a vector.
#[inline(always)]
fn norm<T: Number>(vector: &[T]) -> RealOf<T> {
    let mut lanes = [RealOf::<T>::ZERO; LANE_COUNT];
    let (chunks, rest) = vector.as_chunks::<LANE_COUNT>();
    for chunk in chunks {
        for (lane, x) in lanes.iter_mut().zip(chunk) {
            *lane += x.square();
        }
    }
    let squares = rest.iter().fold(engine::compute::sum_lanes(lanes), |sum, x| sum + x.square());
    let is_accurate = squares > <T as Number>::SMALLEST_ACCURATE_SQUARE && squares < <T as Number>::INFINITY;
    if is_accurate || squares.is_nan() {
        return squares.sqrt();
    }
    let parts = || vector.iter().flat_map(|x| [magnitude(x.real()), magnitude(x.imaginary())]);
    let largest = parts().fold(RealOf::<T>::ZERO, |largest, x| if x > largest { x } else { largest });
    if largest == RealOf::<T>::ZERO || largest == <T as Number>::INFINITY {
        return largest;
    }
    parts().fold(RealOf::<T>::ZERO, |sum, x| sum + (x / largest) * (x / largest)).sqrt() * largest
}

/// Returns the norm of a vector of two elements, without overflow of the squares.
#[inline(always)]
fn norm_of_two<R: RealFloat>(a: R, b: R) -> R {
    let (a, b) = (magnitude(a), magnitude(b));
    let (large, small) = if a < b { (b, a) } else { (a, b) };
    if small == R::ZERO {
        return large;
    }
    let ratio = small / large;
    large * (R::ONE + ratio * ratio).sqrt()
}

/// Computes `column -= factor v (v^H column)` for a vector that consists of one and `tail`.
#[inline(always)]
fn reflect<T: Number>(tail: &[T], factor: T, column: &mut [T]) {
    let (head, rest) = column.split_at_mut(1);
    let mut lanes = [T::ZERO; LANE_COUNT];
    let (vectors, last_vector) = tail.as_chunks::<LANE_COUNT>();
    let (chunks, last_chunk) = rest.as_chunks::<LANE_COUNT>();
    for (vector, chunk) in vectors.iter().zip(chunks) {
        for lane in 0..LANE_COUNT {
            lanes[lane] = lanes[lane].plus(vector[lane].conjugate().times(chunk[lane]));
        }
    }
    let start = head[0].plus(engine::compute::sum_lanes(lanes));
    let dot = last_vector.iter().zip(last_chunk).fold(start, |sum, (&v, &x)| sum.plus(v.conjugate().times(x)));
    if dot == T::ZERO {
        // A factor that is NaN leaves an orthogonal column as it is, as in LAPACK.
        return;
    }
    let scaled = factor.times(dot);
    head[0] = head[0].minus(scaled);
    for (x, &v) in rest.iter_mut().zip(tail) {
        *x = x.minus(scaled.times(v));
    }
}

/// Multiplies the columns of `matrix` by the product of reflectors, or by its adjoint, in place. The reflectors are those of the columns of
/// a matrix with `rows` rows. If `is_identity`, the columns are those of the identity.
pub(crate) fn apply_reflectors<T: Number>(
    reflectors: &[T],
    rows: usize,
    tau: &[T],
    adjoint: bool,
    matrix: &mut [T],
    is_identity: bool,
) {
    let columns = matrix.len() / rows.max(1);
    let width = if tau.len() > 2 * BLOCK_WIDTHS[1] { BLOCK_WIDTHS[0] } else { 1 };
    let count = tau.len().div_ceil(width);
    for step in 0..count {
        let start = width * if adjoint { step } else { count - 1 - step };
        let tau = &tau[start..tau.len().min(start + width)];
        // The columns of the identity before `start` have zeros in all rows that change.
        let first = if is_identity { start } else { 0 };
        if first >= columns {
            continue;
        }
        let (panel, matrix) = (&reflectors[start * rows + start..], &mut matrix[first * rows + start..]);
        if width == 1 {
            let factor = if adjoint { tau[0].conjugate() } else { tau[0] };
            vectorised(
                #[inline(always)]
                || {
                    let tail = &panel[1..rows - start];
                    matrix.chunks_mut(rows).for_each(|column| reflect(tail, factor, &mut column[..rows - start]));
                },
            );
        } else {
            let block = BlockReflector::new(panel, rows, rows - start, tau);
            block.apply(adjoint, view_mut(matrix, rows - start, columns - first, rows));
        }
    }
}

/// A product of reflectors, `I - V T V^H`.
struct BlockReflector<T> {
    rows: usize,
    width: usize,
    /// The vectors, column by column, with their ones and zeros.
    vectors: Vec<T>,
    /// The upper triangular factor `T`.
    factor: Vec<T>,
}

impl<T: Number> BlockReflector<T> {
    /// Makes the product of the reflectors of a block whose columns are `stride` elements apart.
    fn new(block: &[T], stride: usize, rows: usize, tau: &[T]) -> Self {
        let width = tau.len();
        let mut vectors = vec![T::ZERO; rows * width];
        for (index, (vector, column)) in vectors.chunks_exact_mut(rows).zip(block.chunks(stride)).enumerate() {
            vector[index] = T::ONE;
            vector[index + 1..].copy_from_slice(&column[index + 1..rows]);
        }
        let mut products = vec![T::ZERO; width * width];
        let all = view(&vectors, rows, width, rows);
        multiply_adjoint(view_mut(&mut products, width, width, width), all, all);
        let mut factor = vec![T::ZERO; width * width];
        for column in 0..width {
            let (before, own) = factor.split_at_mut(column * width);
            own[column] = tau[column];
            let scale = tau[column].negated();
            for (inner, before) in before.chunks_exact(width).enumerate() {
                let product = products[column * width + inner].times(scale);
                for (x, &other) in own[..=inner].iter_mut().zip(before) {
                    *x = x.plus(other.times(product));
                }
            }
        }
        Self { rows, width, vectors, factor }
    }

    /// Multiplies the columns of a matrix by the product, or by its adjoint, in place.
    fn apply(&self, adjoint: bool, matrix: MatMut<'_, T>) {
        let (rows, width) = (self.rows, self.width);
        let group_width = columns_per_thread(matrix.ncols(), 2 * rows * width * matrix.ncols());
        let vectors = view(&self.vectors, rows, width, rows);
        let factor = view(&self.factor, width, width, width);
        for_each_piece(column_groups(matrix, group_width), |mut group| {
            let columns = group.ncols();
            let (mut products, mut scaled) = (vec![T::ZERO; width * columns], vec![T::ZERO; width * columns]);
            let mut products = view_mut(&mut products, width, columns, width);
            let mut scaled = view_mut(&mut scaled, width, columns, width);
            multiply_adjoint(products.rb_mut(), vectors, group.rb());
            if adjoint {
                multiply_adjoint(scaled.rb_mut(), factor, products.rb());
            } else {
                matmul(scaled.rb_mut(), Accum::Replace, factor, products.rb(), T::ONE, Par::Seq);
            }
            subtract_product(group.rb_mut(), vectors, scaled.rb());
        });
    }
}

/// Computes `c = a^H b`.
fn multiply_adjoint<T: Number>(c: MatMut<'_, T>, a: MatRef<'_, T>, b: MatRef<'_, T>) {
    matmul_with_conj(c, Accum::Replace, a.transpose(), Conj::Yes, b, Conj::No, T::ONE, Par::Seq);
}
