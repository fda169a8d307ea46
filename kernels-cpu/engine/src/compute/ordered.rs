//! What integers and fractions have in common, and do each in their own way.

use crate::inlined::inlined;
use crate::math::Real;

use super::{Compute, Fraction};

/// A real number, whole or not: order, division with rounding, signs.
pub trait Ordered: Compute + PartialOrd {
    /// The larger; NaN where one is.
    fn larger(self, other: Self) -> Self;
    /// The smaller; NaN where one is.
    fn smaller(self, other: Self) -> Self;
    /// The larger; the other where one is NaN.
    fn larger_number(self, other: Self) -> Self;
    /// The smaller; the other where one is NaN.
    fn smaller_number(self, other: Self) -> Self;
    /// The quotient, rounded downwards.
    fn floor_divided(self, divisor: Self) -> Self;
    /// The quotient, rounded towards zero.
    fn trunc_divided(self, divisor: Self) -> Self;
    /// What [`floor_divided`](Self::floor_divided) leaves.
    fn modulo(self, divisor: Self) -> Self;
    /// What [`trunc_divided`](Self::trunc_divided) leaves.
    fn truncated_remainder(self, divisor: Self) -> Self;
    /// The absolute value.
    fn magnitude(self) -> Self;
    /// -1, 0 or 1; 0 for NaN.
    fn signum(self) -> Self;
    /// Whether the sign is minus.
    fn is_minus(self) -> bool;

    /// Itself, or zero if it is less; NaN if it is.
    #[inline(always)]
    fn positive(self) -> Self {
        self.larger(Self::ZERO)
    }

    /// The value if it is at most the threshold, or itself.
    #[inline(always)]
    fn beyond(self, threshold: Self, value: Self) -> Self {
        if self <= threshold { value } else { self }
    }
}

inlined! {
    // Kernels find a divisor of zero before they come here; what it gives is of no consequence.
    impl Ordered for i64, i32 {
        fn larger(self, other: Self) -> Self = self.max(other);
        fn smaller(self, other: Self) -> Self = self.min(other);
        fn larger_number(self, other: Self) -> Self = self.max(other);
        fn smaller_number(self, other: Self) -> Self = self.min(other);
        fn floor_divided(self, divisor: Self) -> Self = {
            let inexact = self.truncated_remainder(divisor) != 0 && (self ^ divisor) < 0;
            self.trunc_divided(divisor).wrapping_sub(Self::from(inexact))
        };
        fn trunc_divided(self, divisor: Self) -> Self = self.wrapping_div(if divisor == 0 { 1 } else { divisor });
        fn modulo(self, divisor: Self) -> Self = {
            let left = self.truncated_remainder(divisor);
            if left != 0 && (left ^ divisor) < 0 { left.wrapping_add(divisor) } else { left }
        };
        fn truncated_remainder(self, divisor: Self) -> Self = self.wrapping_rem(if divisor == 0 { 1 } else { divisor });
        fn magnitude(self) -> Self = self.wrapping_abs();
        fn signum(self) -> Self = Self::signum(self);
        fn is_minus(self) -> bool = self < 0;
    }

    impl Ordered for f32, f64 {
        fn larger(self, other: Self) -> Self = if Fraction::is_nan(self) | (self > other) { self } else { other };
        fn smaller(self, other: Self) -> Self = if Fraction::is_nan(self) | (self < other) { self } else { other };
        fn larger_number(self, other: Self) -> Self = if Fraction::is_nan(other) | (self > other) { self } else { other };
        fn smaller_number(self, other: Self) -> Self = if Fraction::is_nan(other) | (self < other) { self } else { other };
        fn floor_divided(self, divisor: Self) -> Self = {
            if divisor == 0.0 {
                return self / divisor;
            }
            let left = Real::fmod(self, divisor);
            let whole = (self - left) / divisor;
            let whole = if left != 0.0 && (divisor < 0.0) != (left < 0.0) { whole - 1.0 } else { whole };
            if whole == 0.0 {
                return Real::copysign(0.0, self / divisor);
            }
            let floor = Real::floor(whole);
            if whole - floor > 0.5 { floor + 1.0 } else { floor }
        };
        fn trunc_divided(self, divisor: Self) -> Self = Real::trunc(self / divisor);
        fn modulo(self, divisor: Self) -> Self = Real::remainder(self, divisor);
        fn truncated_remainder(self, divisor: Self) -> Self = Real::fmod(self, divisor);
        fn magnitude(self) -> Self = Real::abs(self);
        fn signum(self) -> Self = if self > 0.0 { 1.0 } else if self < 0.0 { -1.0 } else { 0.0 };
        fn is_minus(self) -> bool = self.is_sign_negative();
    }
}
