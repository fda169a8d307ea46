//! Elements at places that tensors list.

use dispatch_macros::op_vmap;
use dispatch_runtime::{DType, Result, Tensor};

use crate::batch::{Batch, Mapped};
use crate::error::VmapError;

#[op_vmap(aten::embedding)]
fn embedding(
    _: &Batch,
    weight: Mapped,
    indices: Mapped,
    padding_idx: i64,
    scale_grad_by_freq: bool,
    sparse: bool,
) -> Result<Option<Mapped>> {
    if weight.is_mapped() {
        return Ok(None);
    }
    let rows = aten::embedding(weight.tensor(), &indices.front()?, padding_idx, scale_grad_by_freq, sparse)?;
    Ok(Some(Mapped::in_front(rows)))
}

#[op_vmap(aten::index)]
fn index(_: &Batch, this: Mapped, indices: Vec<Option<Mapped>>) -> Result<Option<Mapped>> {
    let given: Vec<usize> = (0..indices.len()).filter(|&at| indices[at].is_some()).collect();
    let is_mask = |index: &Mapped| matches!(index.tensor().dtype(), DType::Bool | DType::U8);
    if indices.iter().flatten().any(|index| index.is_mapped() && is_mask(index)) {
        return Err(VmapError::DataDependent { operator: "aten::index.Tensor".to_owned() }.into());
    }
    let together = given.windows(2).all(|pair| pair[0] + 1 == pair[1]);
    // Apart from each other they give the first dimensions of the result, and the batch would not be in front.
    if !together || indices.iter().flatten().any(|index| index.is_mapped() || is_mask(index)) {
        return Ok(None);
    }
    let behind: Vec<Option<Tensor>> = std::iter::once(None)
        .chain(indices.iter().map(|index| index.as_ref().map(|index| index.tensor().clone())))
        .collect();
    Ok(Some(Mapped::in_front(aten::index(&this.front()?, &behind)?)))
}
