//! Small tensors as plain numbers: statistics, weights, positions.

use dispatch_runtime::{Element, OutOfMemory, Result, Tensor};

/// Room for so many of a type.
///
/// # Errors
///
/// Returns [`OutOfMemory`] if there is none.
pub(crate) fn room<T>(count: usize) -> Result<Vec<T>, OutOfMemory> {
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
/// As [`room`].
pub(crate) fn times<T: Clone>(value: T, count: usize) -> Result<Vec<T>, OutOfMemory> {
    let mut values = room(count)?;
    values.resize(count, value);
    Ok(values)
}

/// All elements of a tensor, converted.
pub(crate) fn elements<T: Element>(tensor: &Tensor) -> Result<Vec<T>> {
    aten::to_dtype(tensor, T::DTYPE, false, false, None)?.to_vec()
}

/// Writes numbers into a tensor of as many elements.
pub(crate) fn write(out: &mut Tensor, values: &[f64]) -> Result<()> {
    let values = Tensor::from_vec(values.to_vec(), out.sizes())?;
    aten::copy_(out, &values, false)
}

/// A size that was looked at before.
pub(crate) fn usized(value: i64) -> usize {
    usize::try_from(value).unwrap_or(0)
}
