//! `_unsafe_index` and its variants with a mask. They check indices like the safe operators.

use dispatch_runtime::prelude::*;

use crate::{IndexPlan, is_mask};

/// [`index`](crate::index) for indices that the caller knows to be in range. They are checked all the same.
#[op_def("_unsafe_index.Tensor(Tensor self, Tensor?[] indices) -> Tensor", body = CompositeExplicitAutograd)]
pub fn _unsafe_index(this: &Tensor, indices: &[Option<Tensor>]) -> Result<Tensor> {
    crate::index(this, indices)
}

/// [`index_put`](crate::index_put) for indices that the caller knows to be in range. They are checked all the same.
#[op_def(
    "_unsafe_index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
    body = CompositeExplicitAutograd
)]
pub fn _unsafe_index_put(_: ...) -> Result<Tensor> {
    crate::index_put(this, indices, values, accumulate)
}

/// Clamps the indices of each dimension to its range.
fn clamp_indices(this: &Tensor, indices: &[Option<Tensor>]) -> Result<Vec<Option<Tensor>>> {
    let clamped = indices.iter().zip(this.sizes()).map(|(index, &size)| match index {
        Some(index) if !is_mask(index) => crate::clamp(index, Some((-size).into()), Some((size - 1).into())).map(Some),
        other => Ok(other.clone()),
    });
    let mut all = clamped.collect::<Result<Vec<_>>>()?;
    all.extend(indices.iter().skip(all.len()).cloned());
    Ok(all)
}

/// The elements at the indices where `mask` is true, and the scalar `fill` elsewhere. The masked-out indices may be out of range.
#[op_def(
    "_unsafe_masked_index(Tensor self, Tensor mask, Tensor?[] indices, Scalar fill) -> Tensor",
    body = CompositeExplicitAutograd
)]
pub fn _unsafe_masked_index(this: &Tensor, mask: &Tensor, indices: &[Option<Tensor>], fill: Scalar) -> Result<Tensor> {
    if this.geometry().count() == 0 {
        let sizes = IndexPlan::new(this, indices)?.sizes;
        return crate::new_full(this, &sizes, fill, None, None, None, None);
    }
    let selected = crate::index(this, &clamp_indices(this, indices)?)?;
    crate::masked_fill_scalar(&selected, &crate::logical_not(mask)?, fill)
}

/// `self`, with `values` added at the indices where `mask` is true. The masked-out indices may be out of range.
#[op_def(
    "_unsafe_masked_index_put_accumulate(Tensor self, Tensor mask, Tensor?[] indices, Tensor values) -> Tensor",
    body = CompositeExplicitAutograd
)]
pub fn _unsafe_masked_index_put_accumulate(_: ...) -> Result<Tensor> {
    if this.geometry().count() == 0 {
        return crate::clone(this, None);
    }
    let added = crate::masked_fill_scalar(values, &crate::logical_not(mask)?, 0.into())?;
    crate::index_put(this, &clamp_indices(this, indices)?, &added, true)
}
