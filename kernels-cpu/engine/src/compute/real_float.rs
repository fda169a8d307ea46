//! Real floating-point numbers.

use std::cmp::Ordering;

use dispatch_runtime::Floating;

use super::ComputeType;
use crate::inlined::inlined;
use crate::math::Real;

/// `f32` or `f64`, for formulas that are written once for both.
pub trait RealFloat: ComputeType + Real + Floating {
    /// Returns the next representable value in the direction of `other`.
    fn next_after(self, other: Self) -> Self;

    /// Returns whether the value is NaN.
    #[inline(always)]
    #[expect(clippy::eq_op, reason = "only NaN differs from itself")]
    fn is_nan(self) -> bool {
        self != self
    }

    /// Returns the value if it is positive, and `slope` times the value otherwise.
    #[inline(always)]
    fn leaky_relu(self, slope: Self) -> Self {
        if self > Self::ZERO { self } else { self.times(slope) }
    }

    /// Returns the larger of the two values; `self` if either is NaN.
    #[inline(always)]
    fn at_least(self, limit: Self) -> Self {
        if self < limit { limit } else { self }
    }

    /// Returns the smaller of the two values; `self` if either is NaN.
    #[inline(always)]
    fn at_most(self, limit: Self) -> Self {
        if self > limit { limit } else { self }
    }
}

inlined! {
    impl RealFloat for f32, f64 {
        fn next_after(self, other: Self) -> Self = match self.partial_cmp(&other) {
            None => Self::NAN,
            Some(Ordering::Equal) => other,
            Some(Ordering::Less) => self.next_up(),
            Some(Ordering::Greater) => self.next_down(),
        };
    }
}
