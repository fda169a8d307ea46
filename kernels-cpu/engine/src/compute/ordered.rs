//! Operations that integers and floating-point numbers each define in their own way.

use crate::inlined::inlined;
use crate::math::Real;

use super::{ComputeType, RealFloat};

/// A real number type, integer or floating-point: order, division with rounding, signs.
pub trait Ordered: ComputeType + PartialOrd {
    /// Returns the larger value; NaN if either is NaN.
    fn larger(self, other: Self) -> Self;
    /// Returns the smaller value; NaN if either is NaN.
    fn smaller(self, other: Self) -> Self;
    /// Returns the larger value. If one value is NaN, returns the other.
    fn fmax(self, other: Self) -> Self;
    /// Returns the smaller value. If one value is NaN, returns the other.
    fn fmin(self, other: Self) -> Self;
    /// Returns the quotient, rounded downwards.
    fn floor_divided(self, divisor: Self) -> Self;
    /// Returns the quotient, rounded towards zero.
    fn trunc_divided(self, divisor: Self) -> Self;
    /// Returns the remainder of [`floor_divided`](Self::floor_divided).
    fn floored_remainder(self, divisor: Self) -> Self;
    /// Returns the remainder of [`trunc_divided`](Self::trunc_divided).
    fn truncated_remainder(self, divisor: Self) -> Self;
    /// Returns the absolute value.
    fn magnitude(self) -> Self;
    /// Returns -1, 0 or 1; 0 for NaN.
    fn signum(self) -> Self;
    /// Returns whether the sign is minus.
    fn has_minus_sign(self) -> bool;

    /// Returns the value, or zero if the value is negative; NaN stays NaN.
    #[inline(always)]
    fn relu(self) -> Self {
        self.larger(Self::ZERO)
    }

    /// Returns `value` if `self` is at most `threshold`, and `self` otherwise.
    #[inline(always)]
    fn threshold(self, threshold: Self, value: Self) -> Self {
        if self <= threshold { value } else { self }
    }
}

inlined! {
    // Kernels refuse an integer divisor of zero before the loop, so the result for one does not matter here.
    impl Ordered for i64, i32 {
        fn larger(self, other: Self) -> Self = self.max(other);
        fn smaller(self, other: Self) -> Self = self.min(other);
        fn fmax(self, other: Self) -> Self = self.max(other);
        fn fmin(self, other: Self) -> Self = self.min(other);
        fn floor_divided(self, divisor: Self) -> Self = {
            let inexact = self.truncated_remainder(divisor) != 0 && (self ^ divisor) < 0;
            self.trunc_divided(divisor).wrapping_sub(Self::from(inexact))
        };
        fn trunc_divided(self, divisor: Self) -> Self = self.wrapping_div(if divisor == 0 { 1 } else { divisor });
        fn floored_remainder(self, divisor: Self) -> Self = {
            let left = self.truncated_remainder(divisor);
            if left != 0 && (left ^ divisor) < 0 { left.wrapping_add(divisor) } else { left }
        };
        fn truncated_remainder(self, divisor: Self) -> Self = self.wrapping_rem(if divisor == 0 { 1 } else { divisor });
        fn magnitude(self) -> Self = self.wrapping_abs();
        fn signum(self) -> Self = Self::signum(self);
        fn has_minus_sign(self) -> bool = self < 0;
    }

    impl Ordered for f32, f64 {
        fn larger(self, other: Self) -> Self = if RealFloat::is_nan(self) | (self > other) { self } else { other };
        fn smaller(self, other: Self) -> Self = if RealFloat::is_nan(self) | (self < other) { self } else { other };
        fn fmax(self, other: Self) -> Self = if RealFloat::is_nan(other) | (self > other) { self } else { other };
        fn fmin(self, other: Self) -> Self = if RealFloat::is_nan(other) | (self < other) { self } else { other };
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
        fn floored_remainder(self, divisor: Self) -> Self = Real::remainder(self, divisor);
        fn truncated_remainder(self, divisor: Self) -> Self = Real::fmod(self, divisor);
        fn magnitude(self) -> Self = Real::abs(self);
        fn signum(self) -> Self = if self > 0.0 { 1.0 } else if self < 0.0 { -1.0 } else { 0.0 };
        fn has_minus_sign(self) -> bool = self.is_sign_negative();
    }
}
