//! The entry types of matrices, and the types in which their products are summed.

use super::view::copy_entries;
use super::{Matrix, MatrixMut, complex, floating_point, half_precision, integer};
use crate::inlined::inlined;
use dispatch_runtime::{Arithmetic, Complex32, Complex64, Element, bf16, f16};

/// A type of matrix entries: the floating-point, complex and integer dtypes.
///
/// Its `Sum` is the type in which products are summed and scaled: `f32` for `f16` and `bf16`, otherwise the type itself.
///
/// ```
/// use dispatch_runtime::bf16;
/// use kernels_cpu::gemm::{Matrix, MatrixMut, gemm};
/// let (a, mut c) = ([bf16::from_f32(1.5)], [bf16::ZERO]);
/// let a = Matrix::new(&a, [1, 1], [1, 1]).unwrap();
/// gemm(2.0_f32, a, a, 0.0, MatrixMut::new(&mut c, [1, 1], [1, 1]).unwrap());
/// assert_eq!(c, [bf16::from_f32(4.5)]);
/// ```
pub trait Entry: EntryImpl {}

impl<T: EntryImpl> Entry for T {}

/// The methods that [`Entry`] types implement. Not public API: the module is private, so no other crate can implement it.
pub trait EntryImpl: Element {
    type Sum: Accumulator;

    fn widen_to_sum(self) -> Self::Sum;
    fn narrow_from_sum(sum: Self::Sum) -> Self;

    /// Returns entries as a slice of `Sum`, if that is the entries' own type.
    fn as_sums(_: &[Self]) -> Option<&[Self::Sum]> {
        None
    }

    /// Computes the product of matrices that are neither small nor vectors.
    fn large_product(
        alpha: Self::Sum,
        a: Matrix<'_, Self>,
        b: Matrix<'_, Self>,
        beta: Self::Sum,
        c: MatrixMut<'_, Self>,
    );

    /// Computes such a product, with a summand instead of the entries of `C`.
    fn large_product_with_summand(
        alpha: Self::Sum,
        a: Matrix<'_, Self>,
        b: Matrix<'_, Self>,
        beta: Self::Sum,
        summand: Matrix<'_, Self>,
        c: MatrixMut<'_, Self>,
    ) {
        copy_entries(summand, &c);
        Self::large_product(alpha, a, b, beta, c);
    }
}

pub trait Accumulator: EntryImpl<Sum = Self> + Arithmetic {}

impl<T: EntryImpl<Sum = Self> + Arithmetic> Accumulator for T {}

inlined! {
    impl EntryImpl for f32, f64 {
        type Sum = Self;
        fn widen_to_sum(self) -> Self = self;
        fn narrow_from_sum(sum: Self) -> Self = sum;
        fn as_sums(entries: &[Self]) -> Option<&[Self]> = Some(entries);
        fn large_product(alpha: Self, a: Matrix<'_, Self>, b: Matrix<'_, Self>, beta: Self, c: MatrixMut<'_, Self>) =
            floating_point::product(alpha, a, b, beta, None, c);
        fn large_product_with_summand(
            alpha: Self,
            a: Matrix<'_, Self>,
            b: Matrix<'_, Self>,
            beta: Self,
            summand: Matrix<'_, Self>,
            c: MatrixMut<'_, Self>
        ) = floating_point::product(alpha, a, b, beta, Some(summand), c);
    }

    impl EntryImpl for Complex32, Complex64 {
        type Sum = Self;
        fn widen_to_sum(self) -> Self = self;
        fn narrow_from_sum(sum: Self) -> Self = sum;
        fn as_sums(entries: &[Self]) -> Option<&[Self]> = Some(entries);
        fn large_product(alpha: Self, a: Matrix<'_, Self>, b: Matrix<'_, Self>, beta: Self, c: MatrixMut<'_, Self>) =
            complex::product(alpha, a, b, beta, &c);
    }

    impl EntryImpl for u8, i8, i16, i32, i64 {
        type Sum = Self;
        fn widen_to_sum(self) -> Self = self;
        fn narrow_from_sum(sum: Self) -> Self = sum;
        fn as_sums(entries: &[Self]) -> Option<&[Self]> = Some(entries);
        fn large_product(alpha: Self, a: Matrix<'_, Self>, b: Matrix<'_, Self>, beta: Self, c: MatrixMut<'_, Self>) =
            integer::product(alpha, a, b, beta, c);
    }

    // The conversions to `f32` have no branches, so the compiler vectorises them.
    impl EntryImpl for bf16 {
        type Sum = f32;
        fn widen_to_sum(self) -> f32 = f32::from_bits(u32::from(self.to_bits()) << 16);
        fn narrow_from_sum(sum: f32) -> Self = Self::from_f32(sum);
        fn large_product(alpha: f32, a: Matrix<'_, Self>, b: Matrix<'_, Self>, beta: f32, c: MatrixMut<'_, Self>) =
            half_precision::product(alpha, a, b, beta, c);
    }

    impl EntryImpl for f16 {
        type Sum = f32;
        fn widen_to_sum(self) -> f32 = {
            /// 2 to the power 112, the difference of the exponent biases. The multiplication also converts subnormal numbers correctly.
            const EXPONENT_REBIAS_FACTOR: f32 = f32::from_bits((127 + 112) << 23);
            const INFINITY_BITS: u32 = 0x7c00 << 13;
            const EXPONENT_MASK: u32 = 0xff << 23;
            let bits = u32::from(self.to_bits());
            let magnitude = (bits & 0x7fff) << 13;
            let finite = (f32::from_bits(magnitude) * EXPONENT_REBIAS_FACTOR).to_bits();
            let magnitude = if magnitude >= INFINITY_BITS { magnitude | EXPONENT_MASK } else { finite };
            f32::from_bits(magnitude | (bits & 0x8000) << 16)
        };
        fn narrow_from_sum(sum: f32) -> Self = Self::from_f32(sum);
        fn large_product(alpha: f32, a: Matrix<'_, Self>, b: Matrix<'_, Self>, beta: f32, c: MatrixMut<'_, Self>) =
            half_precision::product(alpha, a, b, beta, c);
    }
}
