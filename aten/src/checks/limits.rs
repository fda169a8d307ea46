//! Limits of one call: how many tensors it may return, and how many operator calls it may make in a loop.
//!
//! If an integer argument alone gives this count, the sizes of the operands bound neither the memory nor the time of the call.

use dispatch_runtime::{BadArgument, OutOfMemory, Result, Tensor};

/// The largest allowed number of operator calls in a loop, and of tensors that an operator returns. So many calls take a minute or longer.
const MAX_CALL_COUNT: i64 = 1 << 24;

/// The approximate size of a tensor in bytes, without its elements.
const TENSOR_OBJECT_BYTES: usize = 512;

/// Returns an empty vector with capacity for `count` tensors.
///
/// # Errors
///
/// Returns [`BadArgument`] if `count` is above the limit, or if memory for the tensors cannot be allocated. The check is made here, because
/// later the tensors are made one by one and a failed allocation would abort the program.
pub(crate) fn tensors_with_capacity(argument: &'static str, count: i64) -> Result<Vec<Tensor>, BadArgument> {
    check_call_count(argument, count)?;
    let (mut tensors, mut bodies) = (Vec::new(), Vec::<[u8; TENSOR_OBJECT_BYTES]>::new());
    let fits = usize::try_from(count)
        .is_ok_and(|count| bodies.try_reserve_exact(count).is_ok() && tensors.try_reserve_exact(count).is_ok());
    if fits {
        Ok(tensors)
    } else {
        Err(BadArgument::value(argument, count, "a number of tensors that fits into memory"))
    }
}

/// Checks that a loop of `count` operator calls ends in a reasonable time.
///
/// ```
/// assert!(aten::check_call_count("n", 1000).is_ok());
/// let error = aten::check_call_count("n", i64::MAX).unwrap_err();
/// assert!(error.to_string().starts_with("argument `n` is 9223372036854775807, but must be at most"));
/// ```
///
/// # Errors
///
/// Returns [`BadArgument`] if `count` is above 2^24.
pub fn check_call_count(argument: &'static str, count: i64) -> Result<(), BadArgument> {
    if count <= MAX_CALL_COUNT { Ok(()) } else { Err(BadArgument::number(argument, count, ..=MAX_CALL_COUNT)) }
}

/// Returns an empty vector with capacity for `count` integers.
///
/// # Errors
///
/// Returns [`OutOfMemory`] if the memory cannot be allocated.
pub(crate) fn integers_with_capacity(count: i64) -> Result<Vec<i64>, OutOfMemory> {
    let mut numbers = Vec::new();
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    match numbers.try_reserve_exact(count) {
        Ok(()) => Ok(numbers),
        Err(_) => Err(OutOfMemory { size: count.saturating_mul(size_of::<i64>()) }),
    }
}
