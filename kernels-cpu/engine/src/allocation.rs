//! Sizes, and room for as many values.

use dispatch_runtime::OutOfMemory;

/// Room for so many of a type.
///
/// # Errors
///
/// Returns [`OutOfMemory`] if there is none.
pub fn reserve<T>(count: usize) -> Result<Vec<T>, OutOfMemory> {
    let mut room = Vec::new();
    match room.try_reserve_exact(count) {
        Ok(()) => Ok(room),
        Err(_) => Err(OutOfMemory { size: count.saturating_mul(size_of::<T>()) }),
    }
}

/// A value so many times, if there is memory for that.
///
/// # Errors
///
/// As [`reserve`].
pub fn times<T: Clone>(value: T, count: usize) -> Result<Vec<T>, OutOfMemory> {
    let mut values = reserve(count)?;
    values.resize(count, value);
    Ok(values)
}

/// A size that was looked at before.
pub fn usized(value: i64) -> usize {
    usize::try_from(value).unwrap_or(0)
}
