//! Batch rules of matrix and vector products.

use dispatch_macros::op_vmap;
use dispatch_runtime::{Result, Scalar, Tensor};

use crate::batch::{Batch, Mapped};
use crate::shape_words::{self, align_rank};

/// Batches `mm`: a batched product if both operands are batched, otherwise one product of a larger matrix.
#[op_vmap(aten::mm)]
fn mm(batch: &Batch, this: Mapped, mat2: Mapped) -> Result<Mapped> {
    if !this.is_mapped() || !mat2.is_mapped() {
        // The rows or columns of all slices form one matrix.
        let at = usize::from(mat2.is_mapped());
        let (mapped, size) =
            if at == 0 { (&this, this.batch_first()?.sizes()[1]) } else { (&mat2, mat2.batch_first()?.sizes()[2]) };
        let all = shape_words::fold_batch_into_dim(&mapped.batch_first()?, at)?;
        let product = if at == 0 { aten::mm(&all, mat2.tensor())? } else { aten::mm(this.tensor(), &all)? };
        return Ok(Mapped::from_batch_first(shape_words::unfold_batch_from_dim(&product, at, batch.size(), size)?));
    }
    Ok(Mapped::from_batch_first(aten::bmm(&this.batch_first()?, &mat2.batch_first()?)?))
}

#[op_vmap(aten::mv)]
fn mv(batch: &Batch, this: Mapped, vec: Mapped) -> Result<Mapped> {
    let column = aten::unsqueeze(&batch.expand_batch_first(&vec)?, 2)?;
    Ok(Mapped::from_batch_first(aten::squeeze_dim(&aten::bmm(&batch.expand_batch_first(&this)?, &column)?, 2)?))
}

#[op_vmap(aten::dot)]
fn dot(batch: &Batch, this: Mapped, tensor: Mapped) -> Result<Mapped> {
    let row = aten::unsqueeze(&batch.expand_batch_first(&this)?, 1)?;
    let column = aten::unsqueeze(&batch.expand_batch_first(&tensor)?, 2)?;
    Ok(Mapped::from_batch_first(aten::flatten_using_ints(&aten::bmm(&row, &column)?, 0, -1)?))
}

/// Computes a batched matrix product plus a summand, which broadcasts to a slice.
fn add_batched_product(
    batch: &Batch,
    this: &Mapped,
    [left, right]: [Tensor; 2],
    beta: Scalar,
    alpha: Scalar,
) -> Result<Tensor> {
    let added = align_rank(&Mapped::from_batch_first(batch.expand_batch_first(this)?), 2)?;
    aten::baddbmm(&added, &left, &right, beta, alpha)
}

#[op_vmap(aten::addmm)]
fn addmm(batch: &Batch, this: Mapped, mat1: Mapped, mat2: Mapped, beta: Scalar, alpha: Scalar) -> Result<Mapped> {
    Ok(Mapped::from_batch_first(add_batched_product(
        batch,
        &this,
        [batch.expand_batch_first(&mat1)?, batch.expand_batch_first(&mat2)?],
        beta,
        alpha,
    )?))
}

#[op_vmap(aten::addmv)]
fn addmv(batch: &Batch, this: Mapped, mat: Mapped, vec: Mapped, beta: Scalar, alpha: Scalar) -> Result<Mapped> {
    let this = Mapped::from_batch_first(aten::unsqueeze(&batch.expand_batch_first(&this)?, -1)?);
    let sides = [batch.expand_batch_first(&mat)?, aten::unsqueeze(&batch.expand_batch_first(&vec)?, 2)?];
    Ok(Mapped::from_batch_first(aten::squeeze_dim(&add_batched_product(batch, &this, sides, beta, alpha)?, 2)?))
}

#[op_vmap(aten::addbmm)]
fn addbmm(batch: &Batch, this: Mapped, batch1: Mapped, batch2: Mapped, beta: Scalar, alpha: Scalar) -> Result<Mapped> {
    // The sum of products is one product of the concatenated columns and rows.
    let columns = aten::movedim_int(&batch.expand_batch_first(&batch1)?, 1, 2)?;
    let sides = [
        aten::flatten_using_ints(&columns, 2, 3)?,
        aten::flatten_using_ints(&batch.expand_batch_first(&batch2)?, 1, 2)?,
    ];
    Ok(Mapped::from_batch_first(add_batched_product(batch, &this, sides, beta, alpha)?))
}

#[op_vmap(aten::baddbmm)]
fn baddbmm(batch: &Batch, this: Mapped, batch1: Mapped, batch2: Mapped, beta: Scalar, alpha: Scalar) -> Result<Mapped> {
    let (left, right) = (batch.expand_batch_first(&batch1)?, batch.expand_batch_first(&batch2)?);
    let added = align_rank(&Mapped::from_batch_first(batch.expand_batch_first(&this)?), 3)?;
    let added = aten::expand(&added, &[-1, left.sizes()[1], -1, -1], false)?;
    let [added, left, right] = [added, left, right].map(|all| shape_words::fold_batch_into_dim(&all, 0));
    shape_words::unfold_mapped_result(batch, &aten::baddbmm(&added?, &left?, &right?, beta, alpha)?, 0)
}
