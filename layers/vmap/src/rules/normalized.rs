//! Normalisation, where a slice's weights come after.

use dispatch_macros::op_vmap;
use dispatch_runtime::Result;

use crate::batch::{Batch, Mapped};

#[op_vmap(aten::native_layer_norm)]
fn native_layer_norm(
    batch: &Batch,
    input: Mapped,
    normalized_shape: &[i64],
    weight: Option<Mapped>,
    bias: Option<Mapped>,
    eps: f64,
) -> Result<Option<(Mapped, Mapped, Mapped)>> {
    let shared = [&weight, &bias].into_iter().flatten().all(|tensor| !tensor.is_mapped());
    if !shared {
        return Ok(None);
    }
    let (weight, bias) = (weight.as_ref().map(Mapped::tensor), bias.as_ref().map(Mapped::tensor));
    let (y, mean, rstd) = aten::native_layer_norm(&batch.each(&input)?, normalized_shape, weight, bias, eps)?;
    Ok(Some((Mapped::in_front(y), Mapped::in_front(mean), Mapped::in_front(rstd))))
}
