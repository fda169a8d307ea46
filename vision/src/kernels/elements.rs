//! Access to the elements of tensors.

use dispatch_runtime::{MemoryFormat, OutOfMemory, prelude::*};

/// The work, in elements, that is worth a thread.
pub(super) const GRAIN_SIZE: usize = 1 << 14;

/// Whether a tensor has no elements. Its other sizes can be arbitrarily large.
pub(super) fn is_empty(tensor: &Tensor) -> bool {
    tensor.geometry().count() == 0
}

/// Returns a tensor whose elements are contiguous: a copy if those of `tensor` are not.
pub(super) fn contiguous(tensor: &Tensor) -> Result<Tensor> {
    aten::contiguous(tensor, MemoryFormat::Contiguous)
}

/// Writes zero to each element of a contiguous tensor.
pub(super) fn fill_with_zeros<T: Floating>(out: &mut Tensor) -> Result<()> {
    out.write::<T>()?.fill(T::ZERO);
    Ok(())
}

/// Returns a vector of `count` copies of a value.
pub(super) fn filled_vec<T: Copy>(value: T, count: usize) -> Result<Vec<T>, OutOfMemory> {
    let mut values = Vec::new();
    if values.try_reserve_exact(count).is_err() {
        return Err(OutOfMemory { size: count.saturating_mul(size_of::<T>()) });
    }
    values.resize(count, value);
    Ok(values)
}

/// Converts a count to a number of the element type.
#[expect(clippy::cast_precision_loss, reason = "the kernels of torchvision convert so, too")]
pub(super) fn to_number<T: Floating>(count: usize) -> T {
    T::from_f64(count as f64)
}
