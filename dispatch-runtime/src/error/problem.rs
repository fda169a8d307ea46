//! What can be wrong with an argument's value, and the words for it.

use std::borrow::Cow;
use std::fmt;

use super::expected::{DTypes, Expected, Sizes, alternatives};
use crate::key::Device;
use crate::scalar::{DType, Scalar, largest};

/// What is wrong with an argument.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Problem {
    /// A dimension that the tensor does not have.
    Dim {
        /// The dimension.
        dim: i64,
        /// How many there are.
        rank: usize,
    },
    /// A dimension that is named twice.
    RepeatedDim {
        /// The dimension.
        dim: i64,
    },
    /// Sizes that cannot be stretched to each other.
    Broadcast {
        /// The argument's sizes.
        sizes: Vec<i64>,
        /// Those of the arguments before it, together.
        with: Vec<i64>,
    },
    /// Sizes that the other arguments do not allow.
    Sizes {
        /// The argument's sizes.
        found: Vec<i64>,
        /// The sizes it must have.
        expected: Sizes,
    },
    /// Another number of dimensions than the operator works on.
    Rank {
        /// The argument's number of dimensions.
        found: usize,
        /// The numbers of dimensions that the operator allows.
        expected: Expected<usize>,
    },
    /// A dtype that the other arguments or the operator do not allow.
    DType {
        /// The argument's dtype.
        found: DType,
        /// The dtypes it may have.
        expected: DTypes,
    },
    /// A device other than that of the arguments before it.
    Device {
        /// The argument's.
        found: Device,
        /// The others'.
        expected: Device,
    },
    /// A position outside the tensor.
    Index {
        /// The position.
        index: i64,
        /// How many there are.
        size: i64,
    },
    /// A number outside of its bounds.
    Number {
        /// The number.
        found: Scalar,
        /// Its bounds.
        expected: Expected<Scalar>,
    },
    /// A list with another number of entries than the operator takes.
    Length {
        /// How many entries it has.
        found: usize,
        /// The lengths that the operator allows.
        expected: Expected<usize>,
    },
    /// A word other than those that the operator knows.
    Word {
        /// The word.
        found: String,
        /// The words that the operator knows.
        expected: &'static [&'static str],
    },
    /// A value of another kind, or one that breaks a rule which only a sentence can state.
    Value {
        /// The value, or a description of it.
        found: String,
        /// The rule.
        expected: Cow<'static, str>,
    },
    /// A number that the dtype of what it becomes a part of does not have.
    Overflow {
        /// The number.
        number: Scalar,
        /// The dtype.
        dtype: DType,
    },
    /// Memory that is also another argument's, but not the very same elements.
    Overlap {
        /// The other argument.
        with: Cow<'static, str>,
    },
    /// Elements that share memory with each other, where each is to be written.
    SelfOverlap,
    /// Memory that somebody's guard holds.
    InUse,
    /// Memory that the CPU cannot address.
    NotOnHost {
        /// Where it is.
        device: Device,
    },
    /// Integers divided by zero.
    DivisionByZero,
}

/// The problem as the rest of a sentence that begins with the argument.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dim { dim, rank: 0 } => write!(f, "is {dim}, but there are no dimensions; write 0 or -1"),
            Self::Dim { dim, rank } => {
                write!(f, "is {dim}, but there are {rank} dimensions; write -{rank} to {}", rank - 1)
            }
            Self::RepeatedDim { dim } => write!(f, "names dimension {dim} twice; leave one out"),
            Self::Broadcast { sizes, with } => write!(
                f,
                "has sizes {sizes:?}, which do not broadcast with {with:?}: counted from the last, sizes must be equal, or one of them 1"
            ),
            Self::Sizes { found, expected } => write!(f, "has sizes {found:?}, but must have {expected}"),
            Self::Rank { found, expected } => write!(f, "has {found} dimensions, but must have {expected}"),
            Self::DType { found, expected } => write!(f, "is of {found}, but must be {expected}"),
            Self::Device { found, expected } => {
                write!(f, "is on {found}, but the others are on {expected}; bring all to one device first")
            }
            Self::Index { index, size } => {
                write!(f, "has the index {index}, which is outside of a dimension of size {size}")
            }
            Self::Number { found, expected } => write!(f, "is {found}, but must be {expected}"),
            Self::Length { found, expected } => write!(f, "has length {found}, but must have {expected}"),
            Self::Word { found, expected } => {
                write!(f, "is `{found}`, but must be ")?;
                alternatives(f, expected.iter().map(|word| format!("`{word}`")))
            }
            Self::Value { found, expected } => write!(f, "is {found}, but must be {expected}"),
            Self::Overflow { number, dtype } => {
                write!(f, "is {number}, which {dtype} cannot hold; give ")?;
                match dtype.integers() {
                    Some((least, most)) => write!(f, "a number from {least} to {most}")?,
                    None if number.to_f64().is_none() && !dtype.is_complex() => f.write_str("a real number")?,
                    None => write!(f, "a number up to {:?} or infinity", largest(*dtype))?,
                }
                f.write_str(", or take a wider dtype")
            }
            Self::Overlap { with } => write!(
                f,
                "shares memory with `{with}`, but does not show exactly the same elements; clone one of them first"
            ),
            Self::SelfOverlap => f.write_str("has elements that share memory, so it cannot be written; clone it first"),
            Self::InUse => f.write_str("is in use by a guard, perhaps of another view of it; drop that guard first"),
            Self::NotOnHost { device } if *device == Device::CPU => {
                f.write_str("stands for more than its sizes say, so only operators reach its elements")
            }
            Self::NotOnHost { device } => {
                write!(f, "is on {device}, whose memory the CPU cannot address; copy it to the CPU first")
            }
            Self::DivisionByZero => f.write_str("has a zero, by which integers cannot be divided"),
        }
    }
}
