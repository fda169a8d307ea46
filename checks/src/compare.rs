//! Compares results of calls with the expected results.

use std::fmt;

use dispatch_runtime::{Complex64, DType, Scalar, Value};

use crate::array::Array;
use crate::datum::Datum;
use crate::tensors::to_complex;
use crate::verdict::Failure;

/// The allowed distance of a result from the expected result: the defaults of `torch.testing.assert_close`.
///
/// ```
/// use dispatch_checks::plumbing::Tolerance;
/// use dispatch_runtime::{DType, Scalar};
///
/// let tolerance = Tolerance::for_dtype(DType::F32);
/// assert!(tolerance.allows(Scalar::Float(1.000_001), Scalar::Float(1.0)));
/// assert!(!tolerance.allows(Scalar::Float(1.001), Scalar::Float(1.0)));
/// assert!(tolerance.allows(Scalar::Float(f64::NAN), Scalar::Float(f64::NAN)));
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tolerance {
    /// The allowed error as a fraction of the expected value.
    pub relative: f64,
    /// The allowed error that does not depend on the expected value.
    pub absolute: f64,
}

impl Tolerance {
    /// Returns the tolerance for results of a dtype.
    #[must_use]
    pub const fn for_dtype(dtype: DType) -> Self {
        let (relative, absolute) = match dtype {
            DType::F16 => (1e-3, 1e-5),
            DType::BF16 => (1.6e-2, 1e-5),
            DType::F32 | DType::C64 => (1.3e-6, 1e-5),
            DType::F64 | DType::C128 => (1e-7, 1e-7),
            _ => (0.0, 0.0),
        };
        Self { relative, absolute }
    }

    /// Whether a scalar is close enough to the expected scalar. NaN is close only to NaN.
    #[must_use]
    pub fn allows(self, actual: Scalar, expected: Scalar) -> bool {
        match (actual, expected) {
            (Scalar::Int(actual), Scalar::Int(expected)) => actual == expected,
            (Scalar::Bool(actual), Scalar::Bool(expected)) => actual == expected,
            (actual, expected) => {
                let (actual, expected) = (to_complex(actual), to_complex(expected));
                if is_nan(actual) || is_nan(expected) {
                    return is_nan(actual) && is_nan(expected);
                }
                // Equal infinities are close, but their difference is NaN.
                actual == expected
                    || expected.is_finite()
                        && (actual - expected).norm() <= self.absolute + self.relative * expected.norm()
            }
        }
    }
}

fn is_nan(number: Complex64) -> bool {
    number.re.is_nan() || number.im.is_nan()
}

/// The properties of a result that are compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ComparedProperties {
    /// Dtype, sizes, strides and elements.
    All,
    /// Dtype, sizes and elements.
    AllButStrides,
    /// Dtype, sizes and strides.
    AllButElements,
    /// Dtype and sizes.
    DTypeAndSizes,
}

impl ComparedProperties {
    /// Returns the same choice of compared properties, without the elements.
    pub(crate) const fn without_elements(self) -> Self {
        match self {
            Self::All | Self::AllButElements => Self::AllButElements,
            Self::AllButStrides | Self::DTypeAndSizes => Self::DTypeAndSizes,
        }
    }
}

/// The first difference between a result and the expected result.
///
/// ```
/// use dispatch_checks::plumbing::{Datum, compare};
/// let difference = compare(&Datum::NonTensor(1_i64.into()), &Datum::NonTensor(2_i64.into())).unwrap_err();
/// assert_eq!(difference.to_string(), "is 1, expected 2");
/// ```
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Difference {
    /// The result has another kind, or is a scalar or string that differs from the expected one.
    Value {
        /// The actual result.
        actual: String,
        /// The expected result.
        expected: String,
    },
    /// The length of a list differs.
    Length {
        /// The actual length.
        actual: usize,
        /// The expected length.
        expected: usize,
    },
    /// The dtype differs.
    DType {
        /// The actual dtype.
        actual: DType,
        /// The expected dtype.
        expected: DType,
    },
    /// The sizes differ.
    Sizes {
        /// The actual sizes.
        actual: Vec<i64>,
        /// The expected sizes.
        expected: Vec<i64>,
    },
    /// The strides differ.
    Strides {
        /// The sizes, which are equal.
        sizes: Vec<i64>,
        /// The actual strides.
        actual: Vec<i64>,
        /// The expected strides.
        expected: Vec<i64>,
    },
    /// Elements differ.
    Elements {
        /// The logical index of the first element that differs.
        first: usize,
        /// The actual element at this index.
        actual: Scalar,
        /// The expected element at this index.
        expected: Scalar,
        /// The number of elements that differ.
        count: usize,
        /// The number of elements of the expected result.
        total: usize,
    },
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value { actual, expected } => write!(f, "is {actual}, expected {expected}"),
            Self::Length { actual, expected } => write!(f, "has {actual} tensors, expected {expected}"),
            Self::DType { actual, expected } => write!(f, "is of {actual}, expected {expected}"),
            Self::Sizes { actual, expected } => write!(f, "has sizes {actual:?}, expected {expected:?}"),
            Self::Strides { sizes, actual, expected } => {
                write!(f, "has strides {actual:?} for sizes {sizes:?}, expected {expected:?}")
            }
            Self::Elements { first, actual, expected, count, total } => {
                write!(f, "has {actual} at {first}, expected {expected} ({count} of {total} elements differ)")
            }
        }
    }
}

impl std::error::Error for Difference {}

/// Compares a result with the expected one: dtype, sizes, strides, and elements within the tolerance of the dtype.
///
/// ```
/// use dispatch_checks::plumbing::{Array, Datum, compare};
/// use dispatch_runtime::{DType, Scalar};
///
/// let zeros = Datum::Array(Array::new(DType::F32, &[2], vec![Scalar::Float(0.0); 2]));
/// assert!(compare(&zeros, &zeros).is_ok());
/// ```
///
/// # Errors
///
/// Returns the first [`Difference`] if the results differ.
pub fn compare(actual: &Datum, expected: &Datum) -> Result<(), Difference> {
    compare_properties(ComparedProperties::All, actual, expected)
}

/// Compares the chosen properties of a result with those of the expected result.
pub fn compare_properties(properties: ComparedProperties, actual: &Datum, expected: &Datum) -> Result<(), Difference> {
    match (actual, expected) {
        (Datum::Array(actual), Datum::Array(expected)) => compare_arrays(properties, actual, expected),
        (Datum::Arrays(actual), Datum::Arrays(expected)) => {
            compare_lengths(actual.len(), expected.len())?;
            actual.iter().zip(expected).try_for_each(|(actual, expected)| compare_arrays(properties, actual, expected))
        }
        (Datum::OptionalArrays(actual), Datum::OptionalArrays(expected)) => {
            compare_lengths(actual.len(), expected.len())?;
            actual.iter().zip(expected).try_for_each(|pair| match pair {
                (None, None) => Ok(()),
                (Some(actual), Some(expected)) => compare_arrays(properties, actual, expected),
                (actual, expected) => compare_lengths(actual.iter().count(), expected.iter().count()),
            })
        }
        // A result that PyTorch leaves undefined has no elements.
        (Datum::Array(actual), Datum::NonTensor(Value::None)) if actual.elements.is_empty() => Ok(()),
        (Datum::NonTensor(actual), Datum::NonTensor(expected)) => compare_non_tensors(actual, expected),
        _ => Err(Difference::Value { actual: describe_datum(actual), expected: describe_datum(expected) }),
    }
}

/// Compares each result with the expected result of the same index.
pub(crate) fn compare_results<'d>(
    properties: ComparedProperties,
    actual: impl IntoIterator<Item = &'d Datum>,
    expected: impl IntoIterator<Item = &'d Datum>,
) -> Result<(), Failure> {
    actual.into_iter().zip(expected).enumerate().try_for_each(|(index, (actual, expected))| {
        compare_properties(properties, actual, expected)
            .map_err(|difference| Failure::WrongResult { index, difference })
    })
}

fn compare_lengths(actual: usize, expected: usize) -> Result<(), Difference> {
    if actual == expected { Ok(()) } else { Err(Difference::Length { actual, expected }) }
}

fn describe_datum(datum: &Datum) -> String {
    match datum {
        Datum::Array(_) => "a tensor".to_owned(),
        Datum::Arrays(_) | Datum::OptionalArrays(_) => "a list of tensors".to_owned(),
        Datum::NonTensor(value) => format!("{value:?}"),
    }
}

fn compare_arrays(properties: ComparedProperties, actual: &Array, expected: &Array) -> Result<(), Difference> {
    if actual.dtype != expected.dtype {
        return Err(Difference::DType { actual: actual.dtype, expected: expected.dtype });
    }
    if actual.sizes != expected.sizes {
        return Err(Difference::Sizes { actual: actual.sizes.clone(), expected: expected.sizes.clone() });
    }
    if matches!(properties, ComparedProperties::All | ComparedProperties::AllButStrides) {
        let found = first_difference(Tolerance::for_dtype(expected.dtype), &actual.elements, &expected.elements);
        found.map_or(Ok(()), Err)?;
        compare_lengths(actual.elements.len(), expected.elements.len())?;
    }
    if matches!(properties, ComparedProperties::All | ComparedProperties::AllButElements)
        && actual.strides != expected.strides
    {
        return Err(Difference::Strides {
            sizes: expected.sizes.clone(),
            actual: actual.strides.clone(),
            expected: expected.strides.clone(),
        });
    }
    Ok(())
}

/// Returns the first elements that differ by more than the tolerance, if any.
pub(crate) fn first_difference(tolerance: Tolerance, actual: &[Scalar], expected: &[Scalar]) -> Option<Difference> {
    let pairs = actual.iter().zip(expected).enumerate();
    let mut wrong = pairs.filter(|(_, (actual, expected))| !tolerance.allows(**actual, **expected));
    let (first, (&actual, &wanted)) = wrong.next()?;
    let (count, total) = (1 + wrong.count(), expected.len());
    Some(Difference::Elements { first, actual, expected: wanted, count, total })
}

fn compare_non_tensors(actual: &Value, expected: &Value) -> Result<(), Difference> {
    let same = match (actual, expected) {
        (Value::Float(actual), Value::Float(expected)) => {
            Tolerance::for_dtype(DType::F64).allows(Scalar::Float(*actual), Scalar::Float(*expected))
        }
        (actual, expected) => actual.kind() == expected.kind() && format!("{actual:?}") == format!("{expected:?}"),
    };
    if same {
        return Ok(());
    }
    Err(Difference::Value { actual: format!("{actual:?}"), expected: format!("{expected:?}") })
}

/// Whether a result is at least as close to the computation in double precision as the expected result is.
///
/// The backend under test computes the result in double precision, so that result counts only if it roughly agrees with the expected result: a
/// wrong backend would agree with itself perfectly. For narrow dtypes, `rounding_sensitivity` measures "roughly": the change of the result if the
/// arguments change by their rounding error.
pub(crate) fn is_as_precise_as_expected(
    actual: &Array,
    recorded: &Array,
    double: &Array,
    rounding_sensitivity: impl FnOnce() -> f64,
) -> bool {
    if actual.sizes != recorded.sizes || double.sizes != recorded.sizes || actual.dtype != recorded.dtype {
        return false;
    }
    let error = |array: &Array| {
        let distances = array.elements.iter().zip(&double.elements).zip(&recorded.elements);
        distances.fold(0.0_f64, |worst, ((&one, &double), &recorded)| {
            let agrees = Tolerance { relative: 0.0, absolute: 0.0 }.allows(one, recorded);
            if is_nan(to_complex(recorded)) && !agrees {
                return f64::INFINITY;
            }
            let (one, double) = (to_complex(one), to_complex(double));
            let distance = (one - double).norm();
            if distance.is_nan() {
                // Two infinities, or NaN: correct if the expected result has the same.
                return if agrees || one == double { worst } else { f64::INFINITY };
            }
            if distance.is_infinite() && agrees { worst } else { worst.max(distance) }
        })
    };
    let finite = |elements: &[Scalar]| -> f64 {
        elements.iter().map(|&x| to_complex(x).norm()).filter(|x| x.is_finite()).fold(0.0, f64::max)
    };
    let rough = if narrow_unit_roundoff(recorded.dtype).is_some() {
        8.0 * rounding_sensitivity()
    } else {
        let Tolerance { relative, absolute } = Tolerance::for_dtype(recorded.dtype);
        64.0 * (relative * finite(&recorded.elements) + absolute)
    };
    let (ours, theirs) = (error(actual), error(recorded));
    ours <= theirs && theirs <= rough
}

/// Returns the largest relative error of rounding to a narrow dtype: half of the distance from 1 to the next value.
pub(crate) const fn narrow_unit_roundoff(dtype: DType) -> Option<f64> {
    match dtype {
        DType::BF16 => Some(1.0 / 256.0),
        DType::F16 => Some(1.0 / 2048.0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn float_array(dtype: DType, elements: &[f64]) -> Array {
        Array::new(dtype, &[elements.len().try_into().unwrap()], elements.iter().map(|&x| Scalar::Float(x)).collect())
    }

    #[test]
    fn every_kind_of_difference_is_found() {
        let expected = float_array(DType::F32, &[1.0, 2.0]);
        let against = |actual: Array| compare(&Datum::Array(actual), &Datum::Array(expected.clone())).unwrap_err();
        assert!(matches!(against(expected.with_dtype(DType::F64)), Difference::DType { .. }));
        assert!(matches!(against(float_array(DType::F32, &[1.0])), Difference::Sizes { .. }));
        assert!(matches!(against(Array { strides: vec![2], ..expected.clone() }), Difference::Strides { .. }));
        assert!(matches!(
            against(float_array(DType::F32, &[1.0, 2.1])),
            Difference::Elements { first: 1, count: 1, .. }
        ));
        assert!(matches!(against(float_array(DType::F32, &[f64::NAN, 2.0])), Difference::Elements { first: 0, .. }));
        let list = Datum::Arrays(vec![expected.clone()]);
        assert!(compare(&list, &Datum::Arrays(vec![])).is_err() && compare(&list, &Datum::Array(expected)).is_err());
    }

    #[test]
    fn infinities_are_equal_only_to_themselves() {
        let tolerance = Tolerance::for_dtype(DType::F32);
        let infinity = Scalar::Float(f64::INFINITY);
        assert!(tolerance.allows(infinity, infinity));
        assert!(!tolerance.allows(Scalar::Float(f64::NEG_INFINITY), infinity));
        assert!(!tolerance.allows(Scalar::Float(1.0), infinity));
        assert!(!tolerance.allows(infinity, Scalar::Float(1.0)));
    }

    #[test]
    fn integers_are_compared_exactly() {
        let tolerance = Tolerance::for_dtype(DType::I64);
        assert!(!tolerance.allows(Scalar::Int(i64::MAX), Scalar::Int(i64::MAX - 1)));
    }

    #[test]
    fn a_result_that_is_more_precise_than_the_recording_is_accepted() {
        let double = float_array(DType::F64, &[1.0, 100.0]);
        let recorded = float_array(DType::F32, &[1.0, 100.002]);
        let still = || 0.0;
        assert!(is_as_precise_as_expected(&float_array(DType::F32, &[1.0, 100.001]), &recorded, &double, still));
        assert!(!is_as_precise_as_expected(&float_array(DType::F32, &[1.0, 100.003]), &recorded, &double, still));
    }

    #[test]
    fn narrow_recordings_may_differ_by_the_effect_of_rounded_arguments() {
        let (double, recorded) = (float_array(DType::F64, &[1.0]), float_array(DType::BF16, &[1.125]));
        let actual = float_array(DType::BF16, &[1.0]);
        assert!(is_as_precise_as_expected(&actual, &recorded, &double, || 1.0 / 64.0));
        assert!(!is_as_precise_as_expected(&actual, &recorded, &double, || 1.0 / 128.0));
    }

    #[test]
    fn unit_roundoff_is_the_largest_relative_change_by_rounding() {
        use crate::tensors::round_to_dtype;
        for dtype in [DType::BF16, DType::F16] {
            let unit = narrow_unit_roundoff(dtype).unwrap();
            let changes = (0..4096_i32).map(|i| {
                let x = 1.0 + f64::from(i) / 4096.0;
                let Scalar::Float(stored) = round_to_dtype(&float_array(dtype, &[x])).unwrap().elements[0] else {
                    unreachable!()
                };
                (stored - x).abs() / x
            });
            let largest = changes.fold(0.0, f64::max);
            assert!(largest <= unit && unit < 1.01 * largest, "{dtype}: {largest}, {unit}");
        }
    }

    #[test]
    fn a_number_in_place_of_nan_is_refused() {
        let (double, recorded) = (float_array(DType::F64, &[1.0, 2.0]), float_array(DType::F32, &[f64::NAN, 2.0]));
        assert!(is_as_precise_as_expected(&recorded, &recorded, &double, || 0.0));
        assert!(!is_as_precise_as_expected(&float_array(DType::F32, &[1.0, 2.0]), &recorded, &double, || 0.0));
    }

    #[test]
    fn a_backend_that_agrees_only_with_itself_is_refused() {
        let wrong = float_array(DType::F32, &[5.0, 7.0]);
        assert!(!is_as_precise_as_expected(
            &wrong,
            &float_array(DType::F32, &[1.0, 2.0]),
            &wrong.with_dtype(DType::F64),
            || 0.0
        ));
    }
}
