//! Fallible allocation of vectors, and conversion of sizes.

use dispatch_runtime::OutOfMemory;

/// Returns an empty vector with capacity for `count` values.
///
/// # Errors
///
/// Returns [`OutOfMemory`] if the allocation fails.
pub fn reserve<T>(count: usize) -> Result<Vec<T>, OutOfMemory> {
    let mut room = Vec::new();
    match room.try_reserve_exact(count) {
        Ok(()) => Ok(room),
        Err(_) => Err(OutOfMemory { size: count.saturating_mul(size_of::<T>()) }),
    }
}

/// Returns a vector of `count` copies of a value.
///
/// # Errors
///
/// Returns [`OutOfMemory`] if the allocation fails.
pub fn times<T: Clone>(value: T, count: usize) -> Result<Vec<T>, OutOfMemory> {
    let mut values = reserve(count)?;
    values.resize(count, value);
    Ok(values)
}

/// Converts a size that was checked before to `usize`; a negative value becomes 0.
pub fn usized(value: i64) -> usize {
    usize::try_from(value).unwrap_or(0)
}
