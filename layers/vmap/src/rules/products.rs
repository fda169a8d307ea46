//! Products of which each slice has both sides.

use dispatch_macros::op_vmap;
use dispatch_runtime::{Result, Scalar};

use crate::batch::{Batch, Mapped};
use crate::words;

/// A matrix for each slice, or one for all.
#[op_vmap(aten::mm)]
fn mm(batch: &Batch, this: Mapped, mat2: Mapped) -> Result<Mapped> {
    if !this.is_mapped() || !mat2.is_mapped() {
        // The columns, or the rows, of all slices side by side.
        let at = usize::from(mat2.is_mapped());
        let (mapped, size) =
            if at == 0 { (&this, this.front()?.sizes()[1]) } else { (&mat2, mat2.front()?.sizes()[2]) };
        let all = words::folded(&mapped.front()?, at)?;
        let product = if at == 0 { aten::mm(&all, mat2.tensor())? } else { aten::mm(this.tensor(), &all)? };
        return Ok(Mapped::in_front(words::unfolded(&product, at, batch.size(), size)?));
    }
    Ok(Mapped::in_front(aten::bmm(&this.front()?, &mat2.front()?)?))
}

#[op_vmap(aten::mv)]
fn mv(batch: &Batch, this: Mapped, vec: Mapped) -> Result<Mapped> {
    let column = aten::unsqueeze(&batch.each(&vec)?, 2)?;
    Ok(Mapped::in_front(aten::squeeze_dim(&aten::bmm(&batch.each(&this)?, &column)?, 2)?))
}

#[op_vmap(aten::dot)]
fn dot(batch: &Batch, this: Mapped, tensor: Mapped) -> Result<Mapped> {
    let row = aten::unsqueeze(&batch.each(&this)?, 1)?;
    let column = aten::unsqueeze(&batch.each(&tensor)?, 2)?;
    Ok(Mapped::in_front(aten::flatten_using_ints(&aten::bmm(&row, &column)?, 0, -1)?))
}

#[op_vmap(aten::addmm)]
fn addmm(batch: &Batch, this: Mapped, mat1: Mapped, mat2: Mapped, beta: Scalar, alpha: Scalar) -> Result<Mapped> {
    let mut added = batch.each(&this)?;
    // The sum broadcasts, and what it broadcasts has the batch in front.
    while added.sizes().len() < 3 {
        added = aten::unsqueeze(&added, 1)?;
    }
    let sum = aten::baddbmm(&added, &batch.each(&mat1)?, &batch.each(&mat2)?, beta, alpha)?;
    Ok(Mapped::in_front(sum))
}
