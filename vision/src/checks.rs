//! Checks of arguments that several operators share.

use dispatch_runtime::{BadArgument, DTypes, Problem, prelude::*};

/// Checks that a tensor has `RANK` dimensions, and returns its sizes.
pub(crate) fn check_rank<const RANK: usize>(name: &'static str, tensor: &Tensor) -> Result<[i64; RANK], BadArgument> {
    tensor.sizes().try_into().map_err(|_| BadArgument::rank(name, tensor.sizes().len(), RANK))
}

/// Checks that a tensor has these sizes, for the reason `because`.
pub(crate) fn check_sizes(
    name: &'static str,
    tensor: &Tensor,
    sizes: &[i64],
    because: &'static str,
) -> Result<(), BadArgument> {
    if tensor.sizes() == sizes {
        return Ok(());
    }
    Err(BadArgument::sizes(name, tensor.sizes(), sizes).because(because))
}

/// Checks that a tensor is of a floating dtype.
pub(crate) fn check_floating(name: &'static str, tensor: &Tensor) -> Result<(), BadArgument> {
    if tensor.dtype().is_floating() {
        return Ok(());
    }
    Err(BadArgument::dtype(name, tensor.dtype(), DTypes::Floating))
}

/// Checks that a tensor is on the device of `other`.
pub(crate) fn check_device(name: &'static str, tensor: &Tensor, other: &Tensor) -> Result<(), BadArgument> {
    let (found, expected) = (tensor.device(), other.device());
    if found == expected { Ok(()) } else { Err(BadArgument::new(name, Problem::Device { found, expected })) }
}

/// Checks that a tensor is on the device of `other` and has its dtype.
pub(crate) fn check_same_kind(
    name: &'static str,
    tensor: &Tensor,
    (other_name, other): (&'static str, &Tensor),
) -> Result<(), BadArgument> {
    check_device(name, tensor, other)?;
    if tensor.dtype() == other.dtype() {
        return Ok(());
    }
    Err(BadArgument::dtype(name, tensor.dtype(), other.dtype()).like(other_name))
}

/// Checks that a number is at least `least`.
pub(crate) fn check_at_least(name: &'static str, number: i64, least: i64) -> Result<(), BadArgument> {
    if number >= least { Ok(()) } else { Err(BadArgument::number(name, number, least..)) }
}

/// Converts a size that was checked before.
pub(crate) fn to_usize(size: i64) -> usize {
    usize::try_from(size).unwrap_or(0)
}
