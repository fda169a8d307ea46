//! Small tensors as plain numbers: statistics, weights, positions.

use dispatch_runtime::{Element, Result, Tensor};

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
