//! Options with a number for each dimension of an image, such as strides.

use aten::IntList;
use dispatch_runtime::{BadArgument, Result};

/// Returns a number for each of `N` dimensions, none below `min`. A list with one number counts for all dimensions.
pub(super) fn per_dimension<const N: usize>(argument: &'static str, list: &[i64], min: i64) -> Result<[i64; N]> {
    let numbers = match *list {
        [one] => [one; N],
        _ => list.try_into().map_err(|_| BadArgument::length(argument, list.len(), N))?,
    };
    match numbers.iter().find(|&&number| number < min) {
        Some(&number) => Err(BadArgument::number(argument, number, min..).into()),
        None => Ok(numbers),
    }
}

/// Does the same for an option. An empty list means `default`.
pub(super) fn per_dimension_or<const N: usize>(
    argument: &'static str,
    list: &IntList,
    min: i64,
    default: [i64; N],
) -> Result<[i64; N]> {
    if list.is_empty() { Ok(default) } else { per_dimension(argument, list.as_slice(), min) }
}

/// Returns a factor for each of `N` dimensions. A list with one factor counts for all dimensions.
pub(super) fn factors_per_dimension<const N: usize>(argument: &'static str, list: &[f64]) -> Result<[f64; N]> {
    match *list {
        [one] => Ok([one; N]),
        _ => list.try_into().map_err(|_| BadArgument::length(argument, list.len(), N).into()),
    }
}
