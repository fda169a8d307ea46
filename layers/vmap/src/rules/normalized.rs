//! Normalisation: of the elements of each slice, whose weights come after, and of parts of it.

use dispatch_macros::op_vmap;
use dispatch_runtime::{Result, Scalar, wrap_dim};

use crate::batch::{Batch, Mapped};
use crate::words::{folded, unfolded};

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

/// The parts along a dimension of all slices are as many parts, each with a norm of its own.
#[op_vmap(aten::renorm)]
fn renorm(batch: &Batch, this: Mapped, p: Scalar, dim: i64, maxnorm: Scalar) -> Result<Mapped> {
    let front = this.front()?;
    let at = wrap_dim("dim", dim, this.rank())?;
    let parts = aten::renorm(&folded(&front, at)?, p, i64::try_from(at).unwrap_or(i64::MAX), maxnorm)?;
    Ok(Mapped::in_front(unfolded(&parts, at, batch.size(), front.sizes()[at + 1])?))
}
