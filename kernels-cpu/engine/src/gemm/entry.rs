//! What a matrix may hold, and what its products are added up in.

use super::{Matrix, MatrixMut, blocked, complex, split, widened};
use crate::inlined::inlined;
use dispatch_runtime::{Arithmetic, Complex32, Complex64, Element, bf16, f16};

/// An entry of a matrix: the floating and complex dtypes and the integers.
///
/// Its `Sum` is what products are added up in and scaled by: `f32` for the two halves, else the type itself.
///
/// ```
/// use dispatch_runtime::bf16;
/// use kernels_cpu::gemm::{Matrix, MatrixMut, gemm};
/// let (a, mut c) = ([bf16::from_f32(1.5)], [bf16::ZERO]);
/// let a = Matrix::new(&a, [1, 1], [1, 1]).unwrap();
/// gemm(2.0_f32, a, a, 0.0, MatrixMut::new(&mut c, [1, 1], [1, 1]).unwrap());
/// assert_eq!(c, [bf16::from_f32(4.5)]);
/// ```
pub trait Entry: Kind {}

impl<T: Kind> Entry for T {}

/// Not public API: the module is private, so nobody else can be an entry.
pub trait Kind: Element {
    type Sum: Sum;

    fn widen(self) -> Self::Sum;
    fn narrow(sum: Self::Sum) -> Self;

    /// The same memory as sums, where that is what it holds.
    fn as_sums(_: &[Self]) -> Option<&[Self::Sum]> {
        None
    }

    /// The product of matrices that are neither small nor vectors.
    fn large(alpha: Self::Sum, a: Matrix<'_, Self>, b: Matrix<'_, Self>, beta: Self::Sum, c: MatrixMut<'_, Self>);
}

pub trait Sum: Kind<Sum = Self> + Arithmetic {}

impl<T: Kind<Sum = Self> + Arithmetic> Sum for T {}

inlined! {
    impl Kind for f32, f64 {
        type Sum = Self;
        fn widen(self) -> Self = self;
        fn narrow(sum: Self) -> Self = sum;
        fn as_sums(entries: &[Self]) -> Option<&[Self]> = Some(entries);
        fn large(alpha: Self, a: Matrix<'_, Self>, b: Matrix<'_, Self>, beta: Self, c: MatrixMut<'_, Self>) =
            split::product(alpha, a, b, beta, c);
    }

    impl Kind for Complex32, Complex64 {
        type Sum = Self;
        fn widen(self) -> Self = self;
        fn narrow(sum: Self) -> Self = sum;
        fn as_sums(entries: &[Self]) -> Option<&[Self]> = Some(entries);
        fn large(alpha: Self, a: Matrix<'_, Self>, b: Matrix<'_, Self>, beta: Self, c: MatrixMut<'_, Self>) =
            complex::product(alpha, a, b, beta, &c);
    }

    impl Kind for u8, i8, i16, i32, i64 {
        type Sum = Self;
        fn widen(self) -> Self = self;
        fn narrow(sum: Self) -> Self = sum;
        fn as_sums(entries: &[Self]) -> Option<&[Self]> = Some(entries);
        fn large(alpha: Self, a: Matrix<'_, Self>, b: Matrix<'_, Self>, beta: Self, c: MatrixMut<'_, Self>) =
            blocked::product(alpha, a, b, beta, c);
    }

    // The conversions to `f32` are written out in integer and float steps without a branch, which vectorise.
    impl Kind for bf16 {
        type Sum = f32;
        fn widen(self) -> f32 = f32::from_bits(u32::from(self.to_bits()) << 16);
        fn narrow(sum: f32) -> Self = Self::from_f32(sum);
        fn large(alpha: f32, a: Matrix<'_, Self>, b: Matrix<'_, Self>, beta: f32, c: MatrixMut<'_, Self>) =
            widened::product(alpha, a, b, beta, c);
    }

    impl Kind for f16 {
        type Sum = f32;
        fn widen(self) -> f32 = {
            /// 2 to the 112th, which is how far apart the exponents' zeros are: subnormals come out right by themselves.
            const REBIAS: f32 = f32::from_bits((127 + 112) << 23);
            const INFINITY: u32 = 0x7c00 << 13;
            const EXPONENT: u32 = 0xff << 23;
            let bits = u32::from(self.to_bits());
            let magnitude = (bits & 0x7fff) << 13;
            let finite = (f32::from_bits(magnitude) * REBIAS).to_bits();
            let magnitude = if magnitude >= INFINITY { magnitude | EXPONENT } else { finite };
            f32::from_bits(magnitude | (bits & 0x8000) << 16)
        };
        fn narrow(sum: f32) -> Self = Self::from_f32(sum);
        fn large(alpha: f32, a: Matrix<'_, Self>, b: Matrix<'_, Self>, beta: f32, c: MatrixMut<'_, Self>) =
            widened::product(alpha, a, b, beta, c);
    }
}
