//! Scalars, dtypes, layouts and memory formats: the small values that operators take in addition to tensors.

mod arithmetic;
#[allow(unsafe_code, reason = "promises that every bit pattern is a valid element")]
mod dtype;
mod float8;
mod layout;

use std::fmt;
use std::sync::Arc;

use half::{bf16, f16};
use num_complex::Complex64;

pub use arithmetic::{Arithmetic, Floating, Number};
pub(crate) use dtype::DTypeCategory;
pub use dtype::{Bool, DType, Element, UnknownDType};
pub use float8::{Float8E4M3Fn, Float8E4M3Fnuz, Float8E5M2, Float8E5M2Fnuz, Float8E8M0Fnu};
pub use layout::{Layout, MemoryFormat};

/// A string argument of an operator. It is reference-counted, so that lists of strings are cheap to clone.
///
/// ```
/// let mode: dispatch_runtime::Str = "mean".into();
/// assert_eq!(&*mode, "mean");
/// ```
pub type Str = Arc<str>;

/// A scalar: a boolean, an integer, a real number or a complex number.
///
/// ```
/// use dispatch_runtime::Scalar;
/// assert_eq!(Scalar::from(2), Scalar::Int(2));
/// assert_eq!(Scalar::from(0.5).to_f64(), Some(0.5));
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Scalar {
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A real number.
    Float(f64),
    /// A complex number.
    Complex(Complex64),
}

impl Scalar {
    /// Converts the number to an `f64`, if its imaginary part is zero.
    #[must_use]
    pub fn to_f64(self) -> Option<f64> {
        match self {
            Self::Bool(value) => Some(f64::from(u8::from(value))),
            Self::Int(value) => Some(i64_to_f64(value)),
            Self::Float(value) => Some(value),
            Self::Complex(value) => (value.im == 0.0).then_some(value.re),
        }
    }

    /// Converts the number to an integer, without its fraction.
    ///
    /// ```
    /// assert_eq!(dispatch_runtime::Scalar::from(-1.5).to_i64(), -1);
    /// ```
    #[must_use]
    pub fn to_i64(self) -> i64 {
        match self {
            Self::Int(number) => number,
            #[expect(clippy::cast_possible_truncation, reason = "the fraction is dropped on purpose")]
            other => other.to_f64().unwrap_or(0.0) as i64,
        }
    }

    /// Converts the number to the category of a dtype: it loses its fraction if the dtype is integral, and becomes 0 or 1 if it is
    /// bool.
    ///
    /// ```
    /// use dispatch_runtime::{DType, Scalar};
    /// assert_eq!(Scalar::Float(-1.5).cast(DType::I64), Scalar::Int(-1));
    /// assert_eq!(Scalar::Float(-1.5).cast(DType::Bool), Scalar::Int(1));
    /// ```
    #[must_use]
    pub fn cast(self, dtype: DType) -> Self {
        match dtype {
            DType::Bool => Self::Int(i64::from(self.to_f64() != Some(0.0))),
            dtype if dtype.is_integral() => Self::Int(self.to_i64()),
            _ => self,
        }
    }

    /// Returns whether operators accept the number for this dtype. They reject numbers that are out of range. They also reject an imaginary
    /// part for a real dtype, and NaN and infinity for an integer dtype. A fraction is cut off. An unsigned dtype accepts negative integers
    /// down to minus its maximum, which wrap. Bool accepts every number.
    ///
    /// The rule is for scalars only: a tensor that is cast to another dtype wraps.
    ///
    /// ```
    /// use dispatch_runtime::{DType, Scalar};
    /// assert!(Scalar::from(255.5).fits(DType::U8) && Scalar::from(-1).fits(DType::U8));
    /// assert!(!Scalar::from(300).fits(DType::U8) && !Scalar::from(f64::NAN).fits(DType::I64));
    /// assert!(Scalar::from(f64::INFINITY).fits(DType::F16) && !Scalar::from(1e5).fits(DType::F16));
    /// ```
    #[must_use]
    pub fn fits(self, dtype: DType) -> bool {
        match (self, dtype) {
            (_, DType::Bool) | (Self::Bool(_), _) => true,
            (Self::Int(value), DType::U8) => value.unsigned_abs() <= u8::MAX.into(),
            (Self::Int(value), _) => match dtype.integer_range() {
                Some((least, most)) => (least..=most).contains(&value),
                None => i64_to_f64(value).abs() <= max_finite(dtype),
            },
            (Self::Float(value), _) => match dtype.integer_range() {
                // `i64::MAX` is not representable as a float, but `i64::MAX + 1` is.
                Some((least, most)) => i64_to_f64(least) <= value && value < i64_to_f64(most) + 1.0,
                None if dtype.is_float8() => fits_float8(value, dtype),
                None => !value.is_finite() || value.abs() <= max_finite(dtype),
            },
            (Self::Complex(value), _) if dtype.is_complex() => {
                [value.re, value.im].into_iter().all(|part| Self::Float(part).fits(dtype))
            }
            (Self::Complex(value), _) => value.im == 0.0 && Self::Float(value.re).fits(dtype),
        }
    }
}

/// Returns whether a float8 dtype represents a number: NaN, infinity if the dtype has it, and what its range contains. The range of powers
/// of two begins at their least one.
fn fits_float8(value: f64, dtype: DType) -> bool {
    let least = if dtype == DType::F8E8M0FNU { Float8E8M0Fnu::from_bits(0).into() } else { -max_finite(dtype) };
    value.is_nan() || value.is_infinite() && dtype == DType::F8E5M2 || (least..=max_finite(dtype)).contains(&value)
}

/// Returns the largest finite number of a floating or complex dtype.
pub(crate) fn max_finite(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => f16::MAX.to_f64(),
        DType::BF16 => bf16::MAX.to_f64(),
        DType::F32 | DType::C64 => f32::MAX.into(),
        DType::F8E4M3FN => 448.0,
        DType::F8E4M3FNUZ => 240.0,
        DType::F8E5M2 | DType::F8E5M2FNUZ => 57344.0,
        DType::F8E8M0FNU => Float8E8M0Fnu::from_bits(254).into(),
        _ => f64::MAX,
    }
}

#[expect(clippy::cast_precision_loss, reason = "large numbers are rounded on purpose")]
const fn i64_to_f64(value: i64) -> f64 {
    value as f64
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => fmt::Display::fmt(value, f),
            Self::Int(value) => fmt::Display::fmt(value, f),
            Self::Float(value) => fmt::Debug::fmt(value, f),
            Self::Complex(value) => fmt::Display::fmt(value, f),
        }
    }
}

impl From<bool> for Scalar {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Scalar {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<i32> for Scalar {
    fn from(value: i32) -> Self {
        Self::Int(value.into())
    }
}

impl From<f64> for Scalar {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl From<f32> for Scalar {
    fn from(value: f32) -> Self {
        Self::Float(value.into())
    }
}

impl From<Complex64> for Scalar {
    fn from(value: Complex64) -> Self {
        Self::Complex(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks for each dtype the numbers at its limits that fit, and the next ones that do not.
    #[test]
    fn floats_fit_up_to_the_same_limits_as_in_pytorch() {
        let floats: [(DType, &[f64], &[f64]); 7] = [
            (DType::U8, &[0.0, -0.0, 255.999], &[-1e-300, 256.0]),
            (DType::I8, &[-128.0, 127.99], &[-128.01, 128.0]),
            (DType::I16, &[-32768.0, 32767.5], &[-32768.5, 32768.0]),
            (DType::I32, &[-2_147_483_648.0, 2_147_483_647.5], &[-2_147_483_648.5, 2_147_483_648.0]),
            (DType::I64, &[-9_223_372_036_854_775_808.0, 9_223_372_036_854_774_784.0], &[9_223_372_036_854_775_808.0]),
            (DType::F16, &[65504.0], &[65504.5]),
            (DType::F32, &[3.402_823_466_385_288_6e38], &[3.402_823_466_385_289e38]),
        ];
        for (dtype, inside, outside) in floats {
            for &number in inside {
                assert!(Scalar::Float(number).fits(dtype), "{number} in {dtype}");
            }
            for &number in outside {
                assert!(!Scalar::Float(number).fits(dtype), "{number} in {dtype}");
            }
            for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                assert_eq!(Scalar::Float(number).fits(dtype), dtype.is_floating(), "{number} in {dtype}");
            }
        }
    }

    #[test]
    fn float8_dtypes_have_their_own_limits_and_infinities() {
        let fits = |number: f64| {
            DType::ALL.into_iter().filter(|dtype| dtype.is_float8()).map(move |dtype| Scalar::Float(number).fits(dtype))
        };
        // e5m2, e4m3fn, e5m2fnuz, e4m3fnuz, e8m0fnu
        assert!(fits(57344.0).eq([true, false, true, false, true]));
        assert!(fits(f64::NEG_INFINITY).eq([true, false, false, false, false]));
        assert!(fits(0.0).eq([true, true, true, true, false]));
        assert!(fits(-240.0).eq([true, true, true, true, false]) && fits(f64::NAN).all(|fits| fits));
    }

    #[test]
    fn integers_are_not_rounded_before_they_are_compared() {
        assert!(Scalar::Int(i64::MAX).fits(DType::I64) && !Scalar::Int(1 << 31).fits(DType::I32));
        assert!(Scalar::Int(-255).fits(DType::U8) && !Scalar::Int(-256).fits(DType::U8));
        assert!(Scalar::Int(65504).fits(DType::F16) && !Scalar::Int(65505).fits(DType::F16));
    }

    #[test]
    fn an_imaginary_part_fits_complex_dtypes_and_bool() {
        let number = Scalar::Complex(Complex64::new(1.0, 2.0));
        let fitting: Vec<DType> = DType::ALL.into_iter().filter(|&dtype| number.fits(dtype)).collect();
        assert_eq!(fitting.len(), 3, "{fitting:?}");
        assert!(Scalar::Complex(Complex64::new(300.0, 0.0)).fits(DType::I16));
        assert!(!Scalar::Complex(Complex64::new(0.0, 1e300)).fits(DType::C64));
    }
}
