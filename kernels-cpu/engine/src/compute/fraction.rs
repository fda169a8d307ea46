//! Real numbers with a fraction.

use std::cmp::Ordering;

use super::{Compute, Precision};
use crate::inlined::inlined;
use crate::math::Real;

/// `f32` or `f64`, for formulas that are written once for both.
pub trait Fraction: Compute + Real + Precision {
    /// The next number on the way to another.
    fn towards(self, other: Self) -> Self;

    /// Whether it is NaN.
    #[inline(always)]
    #[expect(clippy::eq_op, reason = "that is what NaN is")]
    fn is_nan(self) -> bool {
        self != self
    }

    /// Itself if it is positive, or a part of it.
    #[inline(always)]
    fn leaky_relu(self, slope: Self) -> Self {
        if self > Self::ZERO { self } else { self.times(slope) }
    }

    /// The larger, and `self` where neither is.
    #[inline(always)]
    fn at_least(self, limit: Self) -> Self {
        if self < limit { limit } else { self }
    }

    /// The smaller, and `self` where neither is.
    #[inline(always)]
    fn at_most(self, limit: Self) -> Self {
        if self > limit { limit } else { self }
    }
}

inlined! {
    impl Fraction for f32, f64 {
        fn towards(self, other: Self) -> Self = match self.partial_cmp(&other) {
            None => Self::NAN,
            Some(Ordering::Equal) => other,
            Some(Ordering::Less) => self.next_up(),
            Some(Ordering::Greater) => self.next_down(),
        };
    }
}
