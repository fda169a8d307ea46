//! How much one call may consist of: tensors that it returns, and calls that it makes one after another.
//!
//! If only an argument says how many, neither memory nor time is bounded by the sizes of tensors that there are.

use dispatch_runtime::{BadArgument, OutOfMemory, Result, Tensor};

/// The most tensors, or calls in a row. So many take a minute, or longer.
const MOST: i64 = 1 << 24;

/// About the bytes that a tensor takes beside its elements.
const TENSOR: usize = 512;

/// Room for so many tensors.
///
/// # Errors
///
/// Returns [`BadArgument`] if there is no memory for them. It is looked for here, because tensors are then made one by one, and the last
/// cannot be refused.
pub(crate) fn reserve(argument: &'static str, count: i64) -> Result<Vec<Tensor>, BadArgument> {
    check_calls(argument, count)?;
    let (mut tensors, mut bodies) = (Vec::new(), Vec::<[u8; TENSOR]>::new());
    let fits = usize::try_from(count)
        .is_ok_and(|count| bodies.try_reserve_exact(count).is_ok() && tensors.try_reserve_exact(count).is_ok());
    if fits { Ok(tensors) } else { Err(BadArgument::value(argument, count, "parts that fit into memory")) }
}

/// Refuses so many calls in a row.
///
/// ```
/// assert!(aten::check_calls("n", 1000).is_ok());
/// let error = aten::check_calls("n", i64::MAX).unwrap_err();
/// assert!(error.to_string().starts_with("argument `n` is 9223372036854775807, but must be at most"));
/// ```
///
/// # Errors
///
/// Returns [`BadArgument`] if they would not end in a reasonable time.
pub fn check_calls(argument: &'static str, count: i64) -> Result<(), BadArgument> {
    if count <= MOST { Ok(()) } else { Err(BadArgument::number(argument, count, ..=MOST)) }
}

/// Room for so many numbers.
///
/// # Errors
///
/// Returns [`OutOfMemory`] if there is none.
pub(crate) fn reserve_numbers(count: i64) -> Result<Vec<i64>, OutOfMemory> {
    let mut numbers = Vec::new();
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    match numbers.try_reserve_exact(count) {
        Ok(()) => Ok(numbers),
        Err(_) => Err(OutOfMemory { size: count.saturating_mul(size_of::<i64>()) }),
    }
}
