//! Traits of the element types that generic kernels compute with.

use std::ops::{Add, Div, Mul, Neg, Sub};

use half::{bf16, f16};
use num_complex::{Complex32, Complex64};

use super::dtype::Element;

/// A real or complex number with addition and multiplication: the bound of generic kernels with `dtypes(floating, integral, complex)`.
///
/// Integers wrap around, as in PyTorch.
///
/// ```
/// use dispatch_runtime::{Arithmetic, Complex32};
///
/// fn square<T: Arithmetic>(x: T) -> T { x.times(x) }
/// assert_eq!((square(1.5_f32), square(200_u8)), (2.25, 64));
/// assert_eq!(square(Complex32::new(0.0, 1.0)), Complex32::new(-1.0, 0.0));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a number, so a kernel over `T: Arithmetic` cannot serve it",
    label = "name only numbers' dtypes in `dtypes(..)`, or bound `T` by `Element`"
)]
pub trait Arithmetic: Element {
    /// The number zero.
    const ZERO: Self;

    /// The number one.
    const ONE: Self;

    /// Returns the sum of two numbers.
    #[must_use]
    fn plus(self, other: Self) -> Self;

    /// Returns the difference of two numbers.
    #[must_use]
    fn minus(self, other: Self) -> Self;

    /// Returns the product of two numbers.
    #[must_use]
    fn times(self, other: Self) -> Self;
}

/// A real number that can be compared: the bound of generic kernels with `dtypes(floating, integral)`.
///
/// ```
/// use dispatch_runtime::Number;
///
/// fn distance<T: Number>(x: T) -> T { if x < T::ZERO { T::ZERO.minus(x) } else { x } }
/// assert_eq!((distance(-1.5_f32), distance(200_u8)), (1.5, 200));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a real number, so a kernel over `T: Number` cannot serve it",
    label = "name only real dtypes in `dtypes(..)`, or bound `T` by `Element`"
)]
pub trait Number: Arithmetic + PartialOrd {}

/// A floating-point number: the bound of generic kernels with `dtypes(floating)`.
///
/// ```
/// use dispatch_runtime::Floating;
///
/// fn half<T: Floating>(x: T) -> T { x / (T::ONE + T::ONE) }
/// assert_eq!(half(3.0_f64), 1.5);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a floating-point number, so a kernel over `T: Floating` cannot serve it",
    label = "name only floating dtypes in `dtypes(..)`, or bound `T` by `Number`"
)]
pub trait Floating:
    Number + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
{
    /// Converts a number of double precision to the nearest number of this type.
    #[must_use]
    fn from_f64(value: f64) -> Self;

    /// Converts the number to double precision, without rounding.
    #[must_use]
    fn to_f64(self) -> f64;
}

#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "the function rounds on purpose")]
const fn round_to_f32(value: f64) -> f32 {
    value as f32
}

macro_rules! impl_arithmetic_for_integers {
    ($($ty:ty)*) => {$(
        impl Arithmetic for $ty {
            const ZERO: Self = 0;
            const ONE: Self = 1;

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
        }

        impl Number for $ty {}
    )*};
}

macro_rules! impl_arithmetic_for_floats {
    ($($ty:ty, $zero:expr, $one:expr;)*) => {$(
        impl Arithmetic for $ty {
            const ZERO: Self = $zero;
            const ONE: Self = $one;

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self + other
            }

            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self - other
            }

            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self * other
            }
        }
    )*};
}

macro_rules! impl_floating {
    ($($ty:ty, $from:expr;)*) => {$(
        impl Number for $ty {}

        impl Floating for $ty {
            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                $from(value)
            }

            #[inline(always)]
            fn to_f64(self) -> f64 {
                self.into()
            }
        }
    )*};
}

impl_arithmetic_for_integers! { u8 i8 i16 i32 i64 }

impl_arithmetic_for_floats! {
    f32, 0.0, 1.0;
    f64, 0.0, 1.0;
    f16, f16::ZERO, f16::ONE;
    bf16, bf16::ZERO, bf16::ONE;
    Complex32, Self::new(0.0, 0.0), Self::new(1.0, 0.0);
    Complex64, Self::new(0.0, 0.0), Self::new(1.0, 0.0);
}

impl_floating! {
    f32, round_to_f32;
    f64, std::convert::identity;
    f16, f16::from_f64;
    bf16, bf16::from_f64;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integer_arithmetic_wraps_around() {
        assert_eq!(i8::MIN.minus(i8::ONE), i8::MAX);
        assert_eq!(200_u8.plus(100), 44);
    }

    #[test]
    fn small_numbers_convert_exactly_to_every_floating_type() {
        fn divide_one_and_a_half_by_two<T: Floating>() -> f64 {
            (T::from_f64(1.5) / T::from_f64(2.0)).to_f64()
        }
        let all = [
            divide_one_and_a_half_by_two::<f16>(),
            divide_one_and_a_half_by_two::<bf16>(),
            divide_one_and_a_half_by_two::<f32>(),
            divide_one_and_a_half_by_two::<f64>(),
        ];
        assert!(all.iter().all(|number| (number - 0.75).abs() < f64::EPSILON), "{all:?}");
    }
}
