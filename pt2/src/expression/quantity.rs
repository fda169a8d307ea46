//! The numbers of expressions: exact fractions, floating-point numbers and truth values.

use std::cmp::Ordering;
use std::fmt;

use dispatch_runtime::Scalar;

/// A number of an expression. Integers are fractions, because sympy writes `s0/2` for a size that is known to be even.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Quantity {
    Exact(Fraction),
    Float(f64),
    Bool(bool),
}

/// A fraction in lowest terms with a positive denominator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fraction {
    numerator: i128,
    denominator: i128,
}

impl Fraction {
    /// Makes a fraction. There is none if the denominator is zero, or if a part is the lowest number of its type.
    pub(super) fn new(numerator: i128, denominator: i128) -> Option<Self> {
        let divisor = greatest_common_divisor(numerator.checked_abs()?, denominator.checked_abs()?);
        if denominator == 0 {
            return None;
        }
        let sign = denominator.signum();
        Some(Self { numerator: numerator / divisor * sign, denominator: denominator / divisor * sign })
    }

    pub(super) const fn integer(value: i128) -> Self {
        Self { numerator: value, denominator: 1 }
    }

    /// Returns the integer, if the fraction is one.
    pub(super) const fn as_integer(self) -> Option<i128> {
        if self.denominator == 1 { Some(self.numerator) } else { None }
    }

    #[expect(clippy::cast_precision_loss, reason = "Python converts an int to a float in the same way")]
    pub(super) fn as_float(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }

    pub(super) fn add(self, other: Self) -> Option<Self> {
        let (left, right) = self.over_one_denominator(other)?;
        Self::new(left.checked_add(right)?, self.denominator.checked_mul(other.denominator)?)
    }

    pub(super) fn multiply(self, other: Self) -> Option<Self> {
        Self::new(self.numerator.checked_mul(other.numerator)?, self.denominator.checked_mul(other.denominator)?)
    }

    pub(super) fn divide(self, other: Self) -> Option<Self> {
        self.multiply(Self::new(other.denominator, other.numerator)?)
    }

    pub(super) fn negate(self) -> Option<Self> {
        Some(Self { numerator: self.numerator.checked_neg()?, ..self })
    }

    /// Returns the largest integer that is not above the fraction.
    pub(super) const fn floor(self) -> i128 {
        self.numerator.div_euclid(self.denominator)
    }

    pub(super) fn power(self, exponent: i128) -> Option<Self> {
        let size = u32::try_from(exponent.unsigned_abs()).ok()?;
        let power = Self::new(self.numerator.checked_pow(size)?, self.denominator.checked_pow(size)?)?;
        if exponent < 0 { Self::integer(1).divide(power) } else { Some(power) }
    }

    fn compare(self, other: Self) -> Option<Ordering> {
        let (left, right) = self.over_one_denominator(other)?;
        Some(left.cmp(&right))
    }

    fn over_one_denominator(self, other: Self) -> Option<(i128, i128)> {
        Some((self.numerator.checked_mul(other.denominator)?, other.numerator.checked_mul(self.denominator)?))
    }
}

impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.numerator, self.denominator)
    }
}

const fn greatest_common_divisor(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    if a == 0 { 1 } else { a }
}

impl Quantity {
    pub(crate) fn integer(value: i64) -> Self {
        Self::Exact(Fraction::integer(value.into()))
    }

    pub(super) fn from_scalar(scalar: Scalar) -> Option<Self> {
        Some(match scalar {
            Scalar::Int(value) => Self::integer(value),
            Scalar::Float(value) => Self::Float(value),
            Scalar::Bool(value) => Self::Bool(value),
            Scalar::Complex(_) => return None,
        })
    }

    /// Converts the number. A fraction becomes a floating-point number.
    pub(super) fn into_scalar(self) -> Option<Scalar> {
        Some(match self {
            Self::Exact(fraction) if fraction.denominator == 1 => Scalar::Int(i64::try_from(fraction.numerator).ok()?),
            Self::Exact(fraction) => Scalar::Float(fraction.as_float()),
            Self::Float(value) => Scalar::Float(value),
            Self::Bool(value) => Scalar::Bool(value),
        })
    }

    /// Returns the integer, if the number is one of 64 bits.
    pub(crate) fn as_int(self) -> Option<i64> {
        if let Self::Exact(fraction) = self { i64::try_from(fraction.as_integer()?).ok() } else { None }
    }

    /// Returns the number as a fraction. A truth value is 0 or 1.
    pub(super) fn as_fraction(self) -> Option<Fraction> {
        match self {
            Self::Exact(fraction) => Some(fraction),
            Self::Bool(value) => Some(Fraction::integer(value.into())),
            Self::Float(_) => None,
        }
    }

    pub(crate) fn as_float(self) -> f64 {
        match self {
            Self::Exact(fraction) => fraction.as_float(),
            Self::Float(value) => value,
            Self::Bool(value) => f64::from(u8::from(value)),
        }
    }

    pub(crate) fn is_true(self) -> bool {
        self.as_float() != 0.0
    }

    /// Compares two numbers. There is no answer for NaN and for fractions with too many bits.
    pub(crate) fn compare(self, other: Self) -> Option<Ordering> {
        match (self.as_fraction(), other.as_fraction()) {
            (Some(left), Some(right)) => left.compare(right),
            _ => self.as_float().partial_cmp(&other.as_float()),
        }
    }
}
