//! The mistakes that an argument's value can have, and their messages.

use std::borrow::Cow;
use std::fmt;

use super::expected::{DTypes, Expected, Sizes, write_alternatives};
use crate::key::Device;
use crate::scalar::{DType, Scalar, max_finite};

/// The mistake in an argument of a call.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Problem {
    /// A dimension that the tensor does not have.
    Dim {
        /// The dimension that the tensor does not have.
        dim: i64,
        /// The tensor's number of dimensions.
        rank: usize,
    },
    /// A dimension that is named twice.
    RepeatedDim {
        /// The dimension that is named twice.
        dim: i64,
    },
    /// Sizes that do not broadcast with those of the earlier arguments.
    Broadcast {
        /// The argument's sizes.
        sizes: Vec<i64>,
        /// The sizes that the earlier arguments broadcast to.
        with: Vec<i64>,
    },
    /// Sizes that the other arguments do not allow.
    Sizes {
        /// The argument's sizes.
        found: Vec<i64>,
        /// The required sizes.
        expected: Sizes,
    },
    /// A number of dimensions that the operator does not support.
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
        /// The allowed dtypes.
        expected: DTypes,
    },
    /// A device other than that of the earlier arguments.
    Device {
        /// The argument's device.
        found: Device,
        /// The device of the earlier arguments.
        expected: Device,
    },
    /// An index outside of a dimension.
    Index {
        /// The index that is outside of the dimension.
        index: i64,
        /// The size of the dimension.
        size: i64,
        /// The dimension of the indexed tensor, if the caller wrote an index for it. Such an index may be negative.
        dim: Option<usize>,
    },
    /// A number outside of its bounds.
    Number {
        /// The number that is outside of its bounds.
        found: Scalar,
        /// The bounds of the number.
        expected: Expected<Scalar>,
    },
    /// A list whose length the operator does not allow.
    Length {
        /// The length of the list.
        found: usize,
        /// The lengths that the operator allows.
        expected: Expected<usize>,
    },
    /// A list of tensors that is empty.
    NoTensors,
    /// A text that is not one of the operator's keywords.
    Keyword {
        /// The text that is not a keyword.
        found: String,
        /// The keywords that the operator knows.
        expected: &'static [&'static str],
    },
    /// A value of the wrong kind, or a value that breaks a rule that only a sentence can state.
    Value {
        /// The value, or a description of it.
        found: String,
        /// The rule that the value breaks.
        expected: Cow<'static, str>,
    },
    /// A number that the dtype of its target tensor cannot represent.
    Overflow {
        /// The number that the dtype cannot represent.
        number: Scalar,
        /// The dtype of the target tensor.
        dtype: DType,
    },
    /// Memory that partly overlaps another argument's, without being exactly the same elements.
    Overlap {
        /// The name of the other argument.
        with: Cow<'static, str>,
    },
    /// A tensor to be written whose elements share memory with each other.
    SelfOverlap,
    /// Memory that a guard still holds for reading or writing.
    InUse,
    /// Memory that the CPU cannot address, or elements that only operators may reach.
    NotOnHost {
        /// The device of the memory.
        device: Device,
    },
    /// A divisor of integers that contains zero.
    DivisionByZero,
}

/// Prints the mistake as the rest of a sentence that begins with the argument's name.
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
                write!(f, "is on {found}, but the others are on {expected}; move all of them to one device first")
            }
            Self::Index { index, size, dim: None } => {
                write!(f, "has the index {index}, which is outside of a dimension of size {size}")
            }
            Self::Index { index, size: 0, dim: Some(dim) } => {
                write!(f, "has the index {index}, but dimension {dim} is of size 0; leave the index out")
            }
            Self::Index { index, size, dim: Some(dim) } => {
                write!(
                    f,
                    "has the index {index}, which is out of range for dimension {dim} of size {size}; write -{size} to {}",
                    size - 1
                )
            }
            Self::Number { found, expected } => write!(f, "is {found}, but must be {expected}"),
            Self::Length { found, expected } => write!(f, "has length {found}, but must have {expected}"),
            Self::NoTensors => f.write_str("is empty, but must have at least one tensor"),
            Self::Keyword { found, expected } => {
                write!(f, "is `{found}`, but must be ")?;
                write_alternatives(f, expected.iter().map(|word| format!("`{word}`")))
            }
            Self::Value { found, expected } => write!(f, "is {found}, but must be {expected}"),
            Self::Overflow { number, dtype } => {
                write!(f, "is {number}, which {dtype} cannot hold; use ")?;
                match dtype.integer_range() {
                    Some((least, most)) => write!(f, "a number from {least} to {most}")?,
                    None if number.to_f64().is_none() && !dtype.is_complex() => f.write_str("a real number")?,
                    None => write!(f, "a number up to {:?} or infinity", max_finite(*dtype))?,
                }
                f.write_str(", or a wider dtype")
            }
            Self::Overlap { with } => write!(
                f,
                "shares memory with `{with}`, but does not have exactly the same elements; clone one of them first"
            ),
            Self::SelfOverlap => f.write_str("has elements that share memory, so it cannot be written; clone it first"),
            Self::InUse => {
                f.write_str(
                    "is in use by a guard or by a call of another thread, perhaps through another view of its memory; drop the guard first, or \
                     let the threads take turns",
                )
            }
            Self::NotOnHost { device } if *device == Device::CPU => {
                f.write_str("is a batch, or a lazy conjugate or negative, so only operators can access its elements")
            }
            Self::NotOnHost { device } => {
                write!(f, "is on {device}, whose memory the CPU cannot address; copy it to the CPU first")
            }
            Self::DivisionByZero => f.write_str("contains zero, and integers cannot be divided by zero"),
        }
    }
}
