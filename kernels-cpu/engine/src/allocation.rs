//! Fallible allocation of vectors, and conversion of sizes.

use dispatch_runtime::OutOfMemory;

/// Returns an empty vector with capacity for `count` values.
///
/// # Errors
///
/// Returns [`OutOfMemory`] if the allocation fails.
pub fn try_with_capacity<T>(count: usize) -> Result<Vec<T>, OutOfMemory> {
    let mut values = Vec::new();
    match values.try_reserve_exact(count) {
        Ok(()) => Ok(values),
        Err(_) => Err(OutOfMemory { size: count.saturating_mul(size_of::<T>()) }),
    }
}

/// Returns a vector of `count` copies of a value.
///
/// # Errors
///
/// Returns [`OutOfMemory`] if the allocation fails.
pub fn filled_vec<T: Clone>(value: T, count: usize) -> Result<Vec<T>, OutOfMemory> {
    let mut values = try_with_capacity(count)?;
    values.resize(count, value);
    Ok(values)
}

/// Converts a size that was checked before to `usize`; a negative value becomes 0.
pub fn to_usize(value: i64) -> usize {
    usize::try_from(value).unwrap_or(0)
}
