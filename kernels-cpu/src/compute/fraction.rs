//! Real numbers with a fraction.

use std::ops::{Add, Div, Mul, Neg, Sub};

use super::Compute;
use crate::math::Real;

/// `f32` or `f64`, for formulas that are written once for both.
pub(crate) trait Fraction:
    Compute
    + Real
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// The nearest value of this type. Folds to a constant.
    fn near(value: f64) -> Self;

    /// The next number on the way to another.
    fn towards(self, other: Self) -> Self;

    /// Whether it is NaN.
    #[inline(always)]
    #[expect(clippy::eq_op, reason = "that is what NaN is")]
    fn is_nan(self) -> bool {
        self != self
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

macro_rules! fractions {
    ($($ty:ty)*) => {$(
        impl Fraction for $ty {
            #[inline(always)]
            #[expect(clippy::allow_attributes, reason = "one of the types loses nothing")]
            #[allow(clippy::cast_possible_truncation, trivial_numeric_casts, reason = "rounding is what is asked for")]
            fn near(value: f64) -> Self {
                value as Self
            }

            fn towards(self, other: Self) -> Self {
                match self.partial_cmp(&other) {
                    None => Self::NAN,
                    Some(std::cmp::Ordering::Equal) => other,
                    Some(std::cmp::Ordering::Less) => self.next_up(),
                    Some(std::cmp::Ordering::Greater) => self.next_down(),
                }
            }
        }
    )*};
}

fractions! { f32 f64 }
