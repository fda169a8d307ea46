//! Properties of floating-point types for the formulas: constants and the layout of the bits.
//!
//! Rounding to an integer and building a power of two use ordinary additions on purpose. The obvious conversions between integers and
//! floats have no vector instructions for 64 bits below AVX-512, and Rust's saturating `as` adds comparisons to the others.

use std::ops::Rem;

use dispatch_runtime::Floating;

use crate::inlined::inlined;

/// Evaluates a polynomial, lowest coefficient first.
///
/// Adjacent terms are combined, then adjacent pairs of terms: the dependencies form a tree instead of a chain, so a processor can execute
/// more instructions in parallel. It is a macro so that the evaluation is straight-line code before the loop vectoriser runs.
macro_rules! polynomial {
    ($x:expr; $only:expr $(,)?) => { $only };
    ($x:expr; $($coefficient:expr),+ $(,)?) => {{
        let x = $x;
        polynomial!(@pair x; []; $($coefficient),+)
    }};
    (@pair $x:ident; [$($done:expr,)*]; $a:expr, $b:expr $(, $($rest:expr),+)?) => {
        polynomial!(@pair $x; [$($done,)* $b.mul_add($x, $a),]; $($($rest),+)?)
    };
    (@pair $x:ident; [$($done:expr,)*]; $last:expr) => { polynomial!($x * $x; $($done,)* $last) };
    (@pair $x:ident; [$($done:expr,)*];) => { polynomial!($x * $x; $($done),*) };
}
pub(super) use polynomial;

/// `f32` or `f64`, with the operations that the formulas of this module need.
///
/// [`mul_add`](Self::mul_add) computes a product and a sum with one rounding, in one instruction if the machine has it. Otherwise, or
/// outside of [`vectorised`](super::vectorised), it calls the library, which is slow but rounds alike.
pub(super) trait Float: Floating + Rem<Output = Self> {
    const INFINITY: Self;
    const NAN: Self;
    /// The smallest normal number: below it the relative spacing grows.
    const MIN_POSITIVE: Self;
    /// The distance between one and the next larger number.
    const EPSILON: Self;
    /// A number that, when added, rounds to an integer and moves that integer to the lowest bits of the sum.
    const ROUNDING_SHIFT: Self;

    fn magnitude(self) -> Self;
    fn with_sign_of(self, sign: Self) -> Self;
    fn square_root(self) -> Self;
    /// Returns `self * factor + sum`, rounded once.
    fn mul_add(self, factor: Self, sum: Self) -> Self;
    /// Returns `2^self` for an integer `self` whose power is a normal number.
    fn exp2_of_integer(self) -> Self;
    /// Returns `self * 2^n` for `shifted = n + ROUNDING_SHIFT`, if both `self` and the product are normal numbers.
    fn times_power_of_two(self, shifted: Self) -> Self;
    /// Returns `(e, m)` with `self = 2^e m` and `m` in `[sqrt(1/2), sqrt(2))`, for a positive normal number.
    fn exponent_and_mantissa(self) -> (Self, Self);

    /// Returns the smaller of `self` and `limit`, or NaN if `self` is NaN.
    #[inline(always)]
    fn at_most(self, limit: Self) -> Self {
        if self > limit { limit } else { self }
    }

    /// Returns the larger of `self` and `limit`, or NaN if `self` is NaN.
    #[inline(always)]
    fn at_least(self, limit: Self) -> Self {
        if self < limit { limit } else { self }
    }
}

macro_rules! impl_float {
    ($impl_float:ty, $bits:ty, mantissa: $mantissa:literal, bias: $bias:literal, sqrt_half: $sqrt_half:literal) => {
        inlined! {
            impl Float for $impl_float {
                const INFINITY: Self = Self::INFINITY;
                const NAN: Self = Self::NAN;
                const MIN_POSITIVE: Self = Self::MIN_POSITIVE;
                const EPSILON: Self = Self::EPSILON;
                const ROUNDING_SHIFT: Self = 1.5 / Self::EPSILON;
                fn magnitude(self) -> Self = self.abs();
                fn with_sign_of(self, sign: Self) -> Self = self.copysign(sign);
                fn square_root(self) -> Self = self.sqrt();
                fn mul_add(self, factor: Self, sum: Self) -> Self = self.mul_add(factor, sum);
                fn exp2_of_integer(self) -> Self = Self::from_bits((self + (Self::ROUNDING_SHIFT + $bias)).to_bits() << $mantissa);
                fn times_power_of_two(self, shifted: Self) -> Self =
                    Self::from_bits(self.to_bits().wrapping_add(shifted.to_bits() << $mantissa));
                fn exponent_and_mantissa(self) -> (Self, Self) = {
                    const ONE_BITS: $bits = (1.0 as $impl_float).to_bits();
                    const MANTISSA_MASK: $bits = (1 << $mantissa) - 1;
                    #[allow(clippy::cast_precision_loss, reason = "a power of two is exact")]
                    const TWO_TO_MANTISSA: $impl_float = (1_u64 << $mantissa) as $impl_float;
                    let bits = self.to_bits().wrapping_add(ONE_BITS - $sqrt_half);
                    // An integer in the low bits of 2^mantissa adds its own value.
                    let exponent = Self::from_bits((bits >> $mantissa) | TWO_TO_MANTISSA.to_bits()) - (TWO_TO_MANTISSA + $bias);
                    (exponent, Self::from_bits((bits & MANTISSA_MASK) + $sqrt_half))
                };
            }
        }
    };
}

impl_float!(f32, u32, mantissa: 23, bias: 127.0, sqrt_half: 0x3f35_04f3);
impl_float!(f64, u64, mantissa: 52, bias: 1023.0, sqrt_half: 0x3fe6_a09e_667f_3bcd);

#[inline(always)]
pub(super) fn reciprocal_square_root<T: Float>(x: T) -> T {
    T::from_f64(1.0) / x.square_root()
}
