//! Batch rules of matrix and vector products.

use dispatch_macros::op_vmap;
use dispatch_runtime::{Result, Scalar, Tensor};

use crate::batch::{Batch, Mapped};
use crate::shape_words::{self, aligned};

/// Batches `mm`: a batched product if both operands are batched, otherwise one product of a larger matrix.
#[op_vmap(aten::mm)]
fn mm(batch: &Batch, this: Mapped, mat2: Mapped) -> Result<Mapped> {
    if !this.is_mapped() || !mat2.is_mapped() {
        // The rows or columns of all slices form one matrix.
        let at = usize::from(mat2.is_mapped());
        let (mapped, size) =
            if at == 0 { (&this, this.front()?.sizes()[1]) } else { (&mat2, mat2.front()?.sizes()[2]) };
        let all = shape_words::fold_batch(&mapped.front()?, at)?;
        let product = if at == 0 { aten::mm(&all, mat2.tensor())? } else { aten::mm(this.tensor(), &all)? };
        return Ok(Mapped::in_front(shape_words::unfold_batch(&product, at, batch.size(), size)?));
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

/// Computes a batched matrix product plus a summand, which broadcasts to a slice.
fn plus(batch: &Batch, this: &Mapped, [left, right]: [Tensor; 2], beta: Scalar, alpha: Scalar) -> Result<Tensor> {
    let added = aligned(&Mapped::in_front(batch.each(this)?), 2)?;
    aten::baddbmm(&added, &left, &right, beta, alpha)
}

#[op_vmap(aten::addmm)]
fn addmm(batch: &Batch, this: Mapped, mat1: Mapped, mat2: Mapped, beta: Scalar, alpha: Scalar) -> Result<Mapped> {
    Ok(Mapped::in_front(plus(batch, &this, [batch.each(&mat1)?, batch.each(&mat2)?], beta, alpha)?))
}

#[op_vmap(aten::addmv)]
fn addmv(batch: &Batch, this: Mapped, mat: Mapped, vec: Mapped, beta: Scalar, alpha: Scalar) -> Result<Mapped> {
    let this = Mapped::in_front(aten::unsqueeze(&batch.each(&this)?, -1)?);
    let sides = [batch.each(&mat)?, aten::unsqueeze(&batch.each(&vec)?, 2)?];
    Ok(Mapped::in_front(aten::squeeze_dim(&plus(batch, &this, sides, beta, alpha)?, 2)?))
}

#[op_vmap(aten::addbmm)]
fn addbmm(batch: &Batch, this: Mapped, batch1: Mapped, batch2: Mapped, beta: Scalar, alpha: Scalar) -> Result<Mapped> {
    // The sum of products is one product of the concatenated columns and rows.
    let columns = aten::movedim_int(&batch.each(&batch1)?, 1, 2)?;
    let sides = [aten::flatten_using_ints(&columns, 2, 3)?, aten::flatten_using_ints(&batch.each(&batch2)?, 1, 2)?];
    Ok(Mapped::in_front(plus(batch, &this, sides, beta, alpha)?))
}

#[op_vmap(aten::baddbmm)]
fn baddbmm(batch: &Batch, this: Mapped, batch1: Mapped, batch2: Mapped, beta: Scalar, alpha: Scalar) -> Result<Mapped> {
    let (left, right) = (batch.each(&batch1)?, batch.each(&batch2)?);
    let added = aligned(&Mapped::in_front(batch.each(&this)?), 3)?;
    let added = aten::expand(&added, &[-1, left.sizes()[1], -1, -1], false)?;
    let [added, left, right] = [added, left, right].map(|all| shape_words::fold_batch(&all, 0));
    shape_words::unfold_batch_at(batch, &aten::baddbmm(&added?, &left?, &right?, beta, alpha)?, 0)
}
