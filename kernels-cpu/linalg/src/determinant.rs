//! Kernels of determinants.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{Complex32, Complex64, Operation, Spec};
use engine::compute::ComputeType;
use engine::math::Real;
use engine::reduce::with_compute_type;

use crate::lu::factor_batch;
use crate::matrices::{matrix_sizes, transposed};
use crate::number::{Number, RealOf};

#[op_impl(aten::_linalg_det, CPU)]
fn _linalg_det(_plan: &(), out: [&mut Tensor; 3], _: ...) -> Result<()> {
    let [result, lu, pivots] = out;
    factor::<aten::_linalg_det>(A, lu, pivots)?;
    with_compute_type!(aten::_linalg_det, A.dtype(), T: [f32, f64, Complex32, Complex64] => {
        let mut result = result.write::<T>()?;
        let mut index = 0;
        for_each_diagonal::<T>(lu, pivots, |diagonal, is_odd| {
            let product = diagonal.iter().fold(T::ONE, |product, &x| product.times(x));
            result[index] = if is_odd { product.times(minus_one()) } else { product };
            index += 1;
        })
    })
}

#[op_impl(aten::_linalg_slogdet, CPU)]
fn _linalg_slogdet(_plan: &(), out: [&mut Tensor; 4], _: ...) -> Result<()> {
    let [sign, logarithm, lu, pivots] = out;
    factor::<aten::_linalg_slogdet>(A, lu, pivots)?;
    with_compute_type!(aten::_linalg_slogdet, A.dtype(), T: [f32, f64, Complex32, Complex64] => {
        let (mut sign, mut logarithm) = (sign.write::<T>()?, logarithm.write::<RealOf<T>>()?);
        let mut index = 0;
        for_each_diagonal::<T>(lu, pivots, |diagonal, is_odd| {
            let (product, sum) = diagonal.iter().fold((T::ONE, RealOf::<T>::ZERO), |(product, sum), &x| {
                let size = absolute_value(x);
                let direction = direction(x, size);
                (product.times(direction), sum + Real::log(size))
            });
            sign[index] = if is_odd { product.times(minus_one()) } else { product };
            logarithm[index] = sum;
            index += 1;
        })
    })
}

/// Returns -1. Its imaginary part is a positive zero, which decides the sign of the phase of a product.
fn minus_one<T: Number>() -> T {
    T::from_real(RealOf::<T>::ONE.negated())
}

/// Returns the number of absolute value 1 in the direction of `x`, whose absolute value is `size`; zero for zero, and for NaN.
fn direction<T: Number>(x: T, size: RealOf<T>) -> T {
    if T::DTYPE.is_complex() {
        return if size == RealOf::<T>::ZERO { T::ZERO } else { x.divided(T::from_real(size)) };
    }
    let (value, zero, one) = (x.real(), RealOf::<T>::ZERO, RealOf::<T>::ONE);
    T::from_real(if value > zero {
        one
    } else if value < zero {
        one.negated()
    } else {
        zero
    })
}

/// Returns the absolute value, without overflow of the squares.
fn absolute_value<T: Number>(x: T) -> RealOf<T> {
    let (re, im) = (crate::number::magnitude(x.real()), crate::number::magnitude(x.imaginary()));
    if im == RealOf::<T>::ZERO {
        return re;
    }
    let (large, small) = if re > im { (re, im) } else { (im, re) };
    let ratio = small / large;
    large * (RealOf::<T>::ONE + ratio * ratio).sqrt()
}

/// Decomposes every matrix of a batch, or its transpose if it is real and its rows are contiguous, because decompositions work on contiguous
/// columns.
fn factor<O: Operation>(a: &Tensor, lu: &mut Tensor, pivots: &mut Tensor) -> Result<()> {
    let mut info = Spec::contiguous(DType::I32, &a.sizes()[..a.sizes().len() - 2]).on(a.device())?;
    let is_transposed = a.geometry().is_contiguous() && !a.dtype().is_complex();
    let matrix = if is_transposed { transposed(a)? } else { a.clone() };
    factor_batch::<O>(&matrix, lu, pivots, &mut info)
}

/// Calls `work` for every matrix of a batch, with the diagonal of its factor, and whether the number of exchanged rows is odd.
fn for_each_diagonal<T: Number>(lu: &Tensor, pivots: &Tensor, mut work: impl FnMut(&[T], bool)) -> Result<()> {
    let [size, _] = matrix_sizes(lu);
    let batch: i64 = lu.sizes()[..lu.sizes().len() - 2].iter().product();
    let view = transposed(lu)?;
    let (factors, pivots) = (view.read::<T>()?, pivots.read::<i32>()?);
    let mut diagonal = Vec::with_capacity(size);
    for matrix in 0..engine::allocation::to_usize(batch) {
        diagonal.clear();
        diagonal.extend((0..size).map(|step| factors[(matrix * size + step) * size + step]));
        let own_pivots = pivots[matrix * size..][..size].iter();
        let exchanged = own_pivots.zip(1..).filter(|&(&pivot, row)| pivot != row).count();
        work(&diagonal, exchanged % 2 == 1);
    }
    Ok(())
}
