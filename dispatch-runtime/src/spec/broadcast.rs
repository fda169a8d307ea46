//! Broadcasting of sizes and strides, and dimensions that are counted from the end.

use std::borrow::Cow;

use crate::error::{BadArgument, Error, Problem, Result};
use crate::tensor::{Dims, Geometry};

/// Computes the sizes that all operands broadcast to.
///
/// ```
/// use dispatch_runtime::broadcast;
/// assert_eq!(broadcast([&[3_i64, 1][..], &[4]]).unwrap()[..], [3, 4]);
/// assert!(broadcast([&[3_i64][..], &[4]]).is_err());
/// ```
///
/// # Errors
///
/// Returns [`OperandError`] if two sizes differ and neither is 1.
pub fn broadcast<'a>(all: impl IntoIterator<Item = &'a [i64]>) -> Result<Dims, OperandError> {
    let mut sizes = Dims::new();
    for (number, operand) in all.into_iter().enumerate() {
        while sizes.len() < operand.len() {
            sizes.insert(0, 1);
        }
        let skipped = sizes.len() - operand.len();
        for dim in 0..operand.len() {
            match (sizes[skipped + dim], operand[dim]) {
                (known, size) if known == size || size == 1 => {}
                (1, size) => sizes[skipped + dim] = size,
                _ => {
                    let problem = Problem::Broadcast { sizes: operand.to_vec(), with: sizes.to_vec() };
                    return Err(OperandError { operand: number, problem });
                }
            }
        }
    }
    Ok(sizes)
}

/// The error for one of several operands: its index, and the problem.
///
/// ```
/// use dispatch_runtime::broadcast;
/// let error = broadcast([&[3_i64][..], &[4]]).unwrap_err();
/// assert_eq!(error.operand, 1);
/// assert!(error.for_argument("other").to_string().starts_with("argument `other` has sizes [4]"));
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct OperandError {
    /// The operand's index, counted from 0.
    pub operand: usize,
    /// The mistake in the operand.
    pub problem: Problem,
}

impl OperandError {
    /// Converts the error to one for the argument of this name.
    #[cold]
    #[must_use]
    pub fn for_argument(self, argument: impl Into<Cow<'static, str>>) -> BadArgument {
        BadArgument::new(argument, self.problem)
    }
}

/// Converts the error for callers that do not know the argument's name: it becomes `operand 0`, for example.
impl From<OperandError> for BadArgument {
    #[cold]
    fn from(error: OperandError) -> Self {
        let argument = format!("operand {}", error.operand);
        error.for_argument(argument)
    }
}

impl From<OperandError> for Error {
    #[cold]
    fn from(error: OperandError) -> Self {
        BadArgument::from(error).into()
    }
}

/// Returns the strides of a tensor that is broadcast to `sizes`: 0 for each dimension along which it repeats.
///
/// ```
/// use dispatch_runtime::{Geometry, broadcast_strides};
/// let column = Geometry::contiguous(&[3, 1]);
/// assert_eq!(broadcast_strides(&column, &[2, 3, 4])[..], [0, 1, 0]);
/// ```
#[must_use]
pub fn broadcast_strides(geometry: &Geometry, sizes: &[i64]) -> Dims {
    let mut strides = Dims::from_elem(0, sizes.len());
    let steps = geometry.sizes().iter().zip(geometry.strides()).rev();
    for ((to, &wanted), (&size, &stride)) in strides.iter_mut().zip(sizes).rev().zip(steps) {
        if size != 1 || wanted == 1 {
            *to = stride;
        }
    }
    strides
}

/// Converts a dimension number to an index. A negative number counts from the end.
///
/// ```
/// use dispatch_runtime::wrap_dim;
/// assert_eq!(wrap_dim("dim", -1, 3), Ok(2));
/// assert!(wrap_dim("dim", 3, 3).is_err());
/// ```
///
/// # Errors
///
/// Returns [`BadArgument`] with [`Problem::Dim`] if there is no such dimension. A tensor without dimensions accepts 0 and -1.
pub fn wrap_dim(argument: &'static str, dim: i64, rank: usize) -> Result<usize, BadArgument> {
    let count = i64::try_from(rank.max(1)).unwrap_or(i64::MAX);
    let wrapped = if dim < 0 { dim.saturating_add(count) } else { dim };
    if (0..count).contains(&wrapped) {
        Ok(usize::try_from(wrapped).unwrap_or(0))
    } else {
        Err(BadArgument::new(argument, Problem::Dim { dim, rank }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broadcasting_to_fewer_dimensions_drops_the_outer_strides() {
        let geometry = Geometry::contiguous(&[2, 3, 4]);
        assert_eq!(broadcast_strides(&geometry, &[3, 4])[..], [4, 1]);
        assert_eq!(broadcast_strides(&geometry, &[])[..], []);
    }
}
