//! What can be wrong with an argument's value.

use std::borrow::Cow;
use std::fmt;

use crate::device::Device;
use crate::dtype::DType;
use crate::scalar::{Scalar, largest};

/// An argument that an operator cannot compute with: its name, and what is wrong with it.
///
/// The operator's name comes from the error that carries this one.
///
/// ```
/// use dispatch_runtime::{BadArgument, Problem};
/// let error = BadArgument::new("dim", Problem::Dim { dim: 5, rank: 2 });
/// assert_eq!(error.to_string(), "argument `dim` is 5, but there are 2 dimensions; write -2 to 1");
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct BadArgument {
    /// The argument's name in the schema.
    pub argument: Cow<'static, str>,
    /// What is wrong with it.
    pub problem: Problem,
}

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
        /// What they should be.
        expected: String,
    },
    /// Another number of dimensions than the operator works on.
    Rank {
        /// The argument's.
        found: usize,
        /// What it should be.
        expected: String,
    },
    /// A dtype that the other arguments or the operator do not allow.
    DType {
        /// The argument's.
        found: DType,
        /// What it should be.
        expected: String,
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
    /// A number outside of what it may be.
    Value {
        /// The number or word.
        found: String,
        /// What it should be.
        expected: String,
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

impl BadArgument {
    /// The mistake `problem` in the argument of this name.
    #[cold]
    #[must_use]
    pub fn new(argument: impl Into<Cow<'static, str>>, problem: Problem) -> Self {
        Self { argument: argument.into(), problem }
    }

    /// A value other than the operator allows.
    #[cold]
    #[must_use]
    pub fn value(
        argument: impl Into<Cow<'static, str>>,
        found: impl fmt::Display,
        expected: impl Into<String>,
    ) -> Self {
        Self::new(argument, Problem::Value { found: found.to_string(), expected: expected.into() })
    }

    /// Sizes other than the operator allows.
    #[cold]
    #[must_use]
    pub fn sizes(argument: impl Into<Cow<'static, str>>, found: &[i64], expected: impl Into<String>) -> Self {
        Self::new(argument, Problem::Sizes { found: found.to_vec(), expected: expected.into() })
    }

    /// A number that a dtype cannot hold.
    #[cold]
    #[must_use]
    pub fn overflow(argument: impl Into<Cow<'static, str>>, number: Scalar, dtype: DType) -> Self {
        Self::new(argument, Problem::Overflow { number, dtype })
    }

    /// Another number of dimensions than the operator allows.
    #[cold]
    #[must_use]
    pub fn rank(argument: impl Into<Cow<'static, str>>, found: usize, expected: impl Into<String>) -> Self {
        Self::new(argument, Problem::Rank { found, expected: expected.into() })
    }

    /// A dtype other than the operator allows.
    #[cold]
    #[must_use]
    pub fn dtype(argument: impl Into<Cow<'static, str>>, found: DType, expected: impl Into<String>) -> Self {
        Self::new(argument, Problem::DType { found, expected: expected.into() })
    }
}

impl fmt::Display for BadArgument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "argument `{}` ", self.argument)?;
        match &self.problem {
            Problem::Dim { dim, rank: 0 } => write!(f, "is {dim}, but there are no dimensions; write 0 or -1"),
            Problem::Dim { dim, rank } => {
                write!(f, "is {dim}, but there are {rank} dimensions; write -{rank} to {}", rank - 1)
            }
            Problem::RepeatedDim { dim } => write!(f, "names dimension {dim} twice; leave one out"),
            Problem::Broadcast { sizes, with } => write!(
                f,
                "has sizes {sizes:?}, which do not broadcast with {with:?}: counted from the last, sizes must be equal, or one of them 1"
            ),
            Problem::Sizes { found, expected } => write!(f, "has sizes {found:?}, but must have {expected}"),
            Problem::Rank { found, expected } => write!(f, "has {found} dimensions, but must have {expected}"),
            Problem::DType { found, expected } => write!(f, "is of {found}, but must be {expected}"),
            Problem::Device { found, expected } => {
                write!(f, "is on {found}, but the others are on {expected}; bring all to one device first")
            }
            Problem::Index { index, size } => {
                write!(f, "has the index {index}, which is outside of a dimension of size {size}")
            }
            Problem::Value { found, expected } => write!(f, "is {found}, but must be {expected}"),
            Problem::Overflow { number, dtype } => {
                write!(f, "is {number}, which {dtype} cannot hold; give ")?;
                match dtype.integers() {
                    Some((least, most)) => write!(f, "a number from {least} to {most}")?,
                    None if number.to_f64().is_none() && !dtype.is_complex() => f.write_str("a real number")?,
                    None => write!(f, "a number up to {:?} or infinity", largest(*dtype))?,
                }
                f.write_str(", or take a wider dtype")
            }
            Problem::Overlap { with } => write!(
                f,
                "shares memory with `{with}`, but does not show exactly the same elements; clone one of them first"
            ),
            Problem::SelfOverlap => {
                f.write_str("has elements that share memory, so it cannot be written; clone it first")
            }
            Problem::InUse => f.write_str("is in use by a guard, perhaps of another view of it; drop that guard first"),
            Problem::NotOnHost { device } if *device == Device::CPU => {
                f.write_str("stands for more than its sizes say, so only operators reach its elements")
            }
            Problem::NotOnHost { device } => {
                write!(f, "is on {device}, whose memory the CPU cannot address; copy it to the CPU first")
            }
            Problem::DivisionByZero => f.write_str("has a zero, by which integers cannot be divided"),
        }
    }
}

impl std::error::Error for BadArgument {}
