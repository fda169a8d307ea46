//! The numbers, sizes and dtypes that an operator allows, as data that a program can read.

use std::borrow::Cow;
use std::fmt;
use std::ops::{RangeFrom, RangeInclusive, RangeToInclusive};

use crate::scalar::{DType, Scalar};

/// The numbers that an operator allows: for a rank, for a length, or for a numeric argument.
///
/// A number, a range that includes its ends, and a static list convert into it.
///
/// ```
/// use dispatch_runtime::Expected;
/// assert_eq!(Expected::<usize>::from(2..), Expected::AtLeast(2));
/// assert_eq!(Expected::<usize>::from(2..=4).to_string(), "from 2 to 4");
/// assert_eq!(Expected::<usize>::from(&[1, 3]).to_string(), "1 or 3");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Expected<T: 'static> {
    /// Exactly this number.
    Is(T),
    /// One of these numbers.
    OneOf(&'static [T]),
    /// This number or more.
    AtLeast(T),
    /// This number or less.
    AtMost(T),
    /// More than this number.
    Above(T),
    /// Less than this number.
    Below(T),
    /// Any number from the first to the second, both included.
    Between(T, T),
    /// Any number except this one.
    Not(T),
    /// A number that divides this one.
    DivisorOf(T),
    /// A number that this one divides.
    MultipleOf(T),
}

/// The sizes that an operator allows.
///
/// ```
/// use dispatch_runtime::{Expected, Sizes};
/// assert_eq!(Sizes::from(&[2, 3][..]), Sizes::Are(vec![2, 3]));
/// assert_eq!(Sizes::from([2, 3]), Sizes::Are(vec![2, 3]));
/// assert_eq!(Sizes::Dim { dim: 1, size: Expected::AtLeast(4) }.to_string(), "at least 4 in dimension 1");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Sizes {
    /// Exactly these sizes.
    Are(Vec<i64>),
    /// Any sizes with an allowed size in one dimension.
    Dim {
        /// The dimension whose size is restricted.
        dim: usize,
        /// The allowed sizes of the dimension.
        size: Expected<i64>,
    },
    /// Any sizes with an allowed number of elements.
    ElementCount(Expected<i64>),
    /// A rule for the sizes that only a sentence can state.
    Text(Cow<'static, str>),
}

/// The dtypes that an operator allows.
///
/// ```
/// use dispatch_runtime::{DType, DTypes};
/// assert_eq!(DTypes::from(DType::I64), DTypes::Is(DType::I64));
/// assert_eq!(DTypes::from(&[DType::I32, DType::I64]).to_string(), "int32 or int64");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum DTypes {
    /// Exactly this dtype.
    Is(DType),
    /// One of these dtypes.
    OneOf(&'static [DType]),
    /// Floating-point dtypes that are not complex.
    Floating,
    /// Integer dtypes; bool is not one.
    Integral,
    /// Complex dtypes.
    Complex,
    /// All dtypes that are not complex.
    Real,
    /// All dtypes except bool.
    Numeric,
    /// Floating-point and complex dtypes.
    FloatingOrComplex,
    /// Floating-point and integer dtypes.
    FloatingOrIntegral,
    /// All dtypes to which elements of this dtype can be cast.
    CastableFrom(DType),
    /// A rule for the dtypes that only a sentence can state.
    Text(Cow<'static, str>),
}

macro_rules! impl_from_one_value {
    ($($from:ty => $to:ty: $value:ident => $result:expr;)*) => {$(
        impl From<$from> for $to {
            fn from($value: $from) -> Self {
                $result
            }
        }
    )*};
}

impl_from_one_value! {
    &[i64] => Sizes: sizes => Self::Are(sizes.to_vec());
    &'static str => Sizes: text => Self::Text(text.into());
    String => Sizes: text => Self::Text(text.into());
    DType => DTypes: dtype => Self::Is(dtype);
    &'static str => DTypes: text => Self::Text(text.into());
    String => DTypes: text => Self::Text(text.into());
}

/// Implements `From` for a number and for ranges of `$number`, which convert to bounds of type `$bound`.
macro_rules! impl_from_numbers_and_ranges {
    ($(<$($generic:ident)?> $number:ty => $bound:ty;)*) => {$(
        impl<$($generic: Into<$bound>)?> From<$number> for Expected<$bound> {
            fn from(number: $number) -> Self {
                Self::Is(number.into())
            }
        }

        impl<$($generic: Into<$bound>)?> From<RangeFrom<$number>> for Expected<$bound> {
            fn from(range: RangeFrom<$number>) -> Self {
                Self::AtLeast(range.start.into())
            }
        }

        impl<$($generic: Into<$bound>)?> From<RangeToInclusive<$number>> for Expected<$bound> {
            fn from(range: RangeToInclusive<$number>) -> Self {
                Self::AtMost(range.end.into())
            }
        }

        impl<$($generic: Into<$bound>)?> From<RangeInclusive<$number>> for Expected<$bound> {
            fn from(range: RangeInclusive<$number>) -> Self {
                let (least, most) = range.into_inner();
                Self::Between(least.into(), most.into())
            }
        }
    )*};
}

impl_from_numbers_and_ranges! {
    <> usize => usize;
    <> i64 => i64;
    <N> N => Scalar;
}

impl<T, const N: usize> From<&'static [T; N]> for Expected<T> {
    fn from(list: &'static [T; N]) -> Self {
        Self::OneOf(list)
    }
}

impl<const N: usize> From<[i64; N]> for Sizes {
    fn from(sizes: [i64; N]) -> Self {
        Self::Are(sizes.into())
    }
}

impl<const N: usize> From<&'static [DType; N]> for DTypes {
    fn from(list: &'static [DType; N]) -> Self {
        Self::OneOf(list)
    }
}

/// Writes a list of alternatives, with "or" before the last one.
pub(super) fn write_alternatives(
    f: &mut fmt::Formatter<'_>,
    all: impl ExactSizeIterator<Item = impl fmt::Display>,
) -> fmt::Result {
    let last = all.len().saturating_sub(1);
    for (at, one) in all.enumerate() {
        let before = match at {
            0 => "",
            at if at == last => " or ",
            _ => ", ",
        };
        write!(f, "{before}{one}")?;
    }
    Ok(())
}

impl<T: fmt::Display> fmt::Display for Expected<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Is(number) => number.fmt(f),
            Self::OneOf(list) => write_alternatives(f, list.iter()),
            Self::AtLeast(least) => write!(f, "at least {least}"),
            Self::AtMost(most) => write!(f, "at most {most}"),
            Self::Above(bound) => write!(f, "more than {bound}"),
            Self::Below(bound) => write!(f, "less than {bound}"),
            Self::Between(least, most) => write!(f, "from {least} to {most}"),
            Self::Not(number) => write!(f, "other than {number}"),
            Self::DivisorOf(whole) => write!(f, "a divisor of {whole}"),
            Self::MultipleOf(part) => write!(f, "a multiple of {part}"),
        }
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Are(sizes) => write!(f, "{sizes:?}"),
            Self::Dim { dim, size } => write!(f, "{size} in dimension {dim}"),
            Self::ElementCount(count @ (Expected::Is(1) | Expected::AtLeast(1))) => write!(f, "{count} element"),
            Self::ElementCount(count) => write!(f, "{count} elements"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

impl fmt::Display for DTypes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Is(dtype) => dtype.name(),
            Self::OneOf(list) => return write_alternatives(f, list.iter()),
            Self::CastableFrom(dtype) => return write!(f, "able to hold {dtype}"),
            Self::Floating => "floating",
            Self::Integral => "integral",
            Self::Complex => "complex",
            Self::Real => "real",
            Self::Numeric => "numeric",
            Self::FloatingOrComplex => "floating or complex",
            Self::FloatingOrIntegral => "floating or integral",
            Self::Text(text) => text,
        })
    }
}
