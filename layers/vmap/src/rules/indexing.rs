//! Elements at places that tensors list.

use dispatch_macros::op_vmap;
use dispatch_runtime::{DType, Result, Tensor};

use crate::batch::{Batch, Mapped};
use crate::error::VmapError;
use crate::words::{aligned, folded};

/// Row `n` of slice `i` is row `i * rows + n` of all tables, one below the other.
fn rows_of_all(batch: &Batch, indices: &Mapped, rows: i64) -> Result<Tensor> {
    let each = batch.each(indices)?;
    let mut column = vec![1; each.sizes().len()];
    column[0] = batch.size();
    let first = aten::mul_scalar(&numbers(batch, &each)?, rows.into())?;
    aten::add(&each, &aten::reshape(&first, &column)?, 1.into())
}

/// The number of each slice.
fn numbers(batch: &Batch, on: &Tensor) -> Result<Tensor> {
    aten::arange(batch.size().into(), Some(DType::I64), None, Some(on.device()), None)
}

#[op_vmap(aten::embedding)]
fn embedding(
    batch: &Batch,
    weight: Mapped,
    indices: Mapped,
    padding_idx: i64,
    scale_grad_by_freq: bool,
    sparse: bool,
) -> Result<Mapped> {
    let (table, indices) = if weight.is_mapped() {
        let each = weight.front()?;
        (folded(&each, 0)?, rows_of_all(batch, &indices, each.sizes()[1])?)
    } else {
        (weight.tensor().clone(), indices.front()?)
    };
    Ok(Mapped::in_front(aten::embedding(&table, &indices, padding_idx, scale_grad_by_freq, sparse)?))
}

#[op_vmap(aten::embedding_dense_backward)]
fn embedding_dense_backward(
    batch: &Batch,
    grad_output: Mapped,
    indices: Mapped,
    num_weights: i64,
    padding_idx: i64,
    scale_grad_by_freq: bool,
) -> Result<Mapped> {
    // There is one row of padding in each table: what would go there is nothing.
    let padding = aten::eq_scalar(&batch.each(&indices)?, padding_idx.into())?;
    let padding = aten::unsqueeze(&padding, -1)?;
    let grad = aten::masked_fill_scalar(&batch.each(&grad_output)?, &padding, 0.into())?;
    let places = rows_of_all(batch, &indices, num_weights)?;
    let rows = num_weights * batch.size();
    let all = aten::embedding_dense_backward(&grad, &places, rows, -1, scale_grad_by_freq)?;
    crate::words::taken_apart(batch, &all, 0)
}

/// Indices of an operator such as `index`, where masks are lists of places.
struct Places {
    indices: Vec<Option<Mapped>>,
    /// How many dimensions they have together.
    rank: usize,
    /// How many dimensions come before theirs in the result of one slice.
    before: usize,
}

fn is_mask(index: &Mapped) -> bool {
    matches!(index.tensor().dtype(), DType::Bool | DType::U8)
}

impl Places {
    fn new(operator: &str, indices: Vec<Option<Mapped>>) -> Result<Self> {
        let mut all = Vec::new();
        for index in indices {
            match index {
                Some(mask) if is_mask(&mask) => {
                    if mask.is_mapped() {
                        return Err(VmapError::DataDependent { operator: operator.to_owned() }.into());
                    }
                    let places = aten::nonzero_numpy(mask.tensor())?;
                    all.extend(places.into_iter().map(|places| Some(Mapped::same_for_all(places))));
                }
                other => all.push(other),
            }
        }
        let given: Vec<usize> = (0..all.len()).filter(|&at| all[at].is_some()).collect();
        let together = given.windows(2).all(|pair| pair[0] + 1 == pair[1]);
        let before = if together { given.first().copied().unwrap_or(0) } else { 0 };
        let rank = all.iter().flatten().map(Mapped::rank).max().unwrap_or(0);
        Ok(Self { indices: all, rank, before })
    }

    fn are_mapped(&self) -> bool {
        self.indices.iter().flatten().any(Mapped::is_mapped)
    }

    /// The same places in a batch, whose number is one more index.
    fn in_batch(&self, batch: &Batch, each: &Tensor) -> Result<Vec<Option<Tensor>>> {
        let mut column = vec![1; self.rank + 1];
        column[0] = batch.size();
        let mut all = vec![Some(aten::reshape(&numbers(batch, each)?, &column)?)];
        for index in &self.indices {
            let index = index.as_ref();
            all.push(index.map(|index| self.aligned(index)).transpose()?);
        }
        Ok(all)
    }

    fn aligned(&self, index: &Mapped) -> Result<Tensor> {
        if index.is_mapped() { aligned(index, self.rank) } else { Ok(index.tensor().clone()) }
    }

    /// The dimensions that the places have, as the batch leaves them, and where a slice has them.
    fn moved(&self) -> (Vec<i64>, Vec<i64>) {
        let dims = |from: usize| (from..from + self.rank).filter_map(|dim| i64::try_from(dim).ok()).collect();
        (dims(1), dims(1 + self.before))
    }
}

fn index_of(operator: &str, batch: &Batch, this: &Mapped, indices: Vec<Option<Mapped>>) -> Result<Mapped> {
    let places = Places::new(operator, indices)?;
    if !this.is_mapped() {
        let all = places.indices.iter().map(|index| index.as_ref().map(|index| places.aligned(index)).transpose());
        let found = aten::index(this.tensor(), &all.collect::<Result<Vec<_>>>()?)?;
        return Ok(Mapped { tensor: found, dim: Some(places.before) });
    }
    let each = this.front()?;
    let found = aten::index(&each, &places.in_batch(batch, &each)?)?;
    let (here, there) = places.moved();
    Ok(Mapped::in_front(aten::movedim_intlist(&found, &here, &there)?))
}

#[op_vmap(aten::index)]
fn index(batch: &Batch, this: Mapped, indices: Vec<Option<Mapped>>) -> Result<Mapped> {
    index_of("aten::index.Tensor", batch, &this, indices)
}

#[op_vmap(aten::_unsafe_index)]
fn _unsafe_index(batch: &Batch, this: Mapped, indices: Vec<Option<Mapped>>) -> Result<Mapped> {
    index_of("aten::_unsafe_index.Tensor", batch, &this, indices)
}

/// How many places a mask has, each slice may say for itself: what is put there is as large as before. So masks are left to the loop.
fn put(
    operator: &str,
    batch: &Batch,
    this: &Mapped,
    indices: Vec<Option<Mapped>>,
    values: &Mapped,
    accumulate: bool,
) -> Result<Option<Mapped>> {
    if indices.iter().flatten().any(is_mask) {
        return Ok(None);
    }
    let places = Places::new(operator, indices)?;
    let given = places.indices.iter().flatten().count();
    let rank = this.rank() + places.rank - given;
    let each = batch.each(this)?;
    let (here, there) = places.moved();
    let values = if values.is_mapped() || places.before > 0 || places.are_mapped() {
        aten::movedim_intlist(&aligned(&Mapped::in_front(batch.each(values)?), rank)?, &there, &here)?
    } else {
        values.tensor().clone()
    };
    Ok(Some(Mapped::in_front(aten::index_put(&each, &places.in_batch(batch, &each)?, &values, accumulate)?)))
}

#[op_vmap(aten::index_put)]
fn index_put(
    batch: &Batch,
    this: Mapped,
    indices: Vec<Option<Mapped>>,
    values: Mapped,
    accumulate: bool,
) -> Result<Option<Mapped>> {
    put("aten::index_put", batch, &this, indices, &values, accumulate)
}

#[op_vmap(aten::_unsafe_index_put)]
fn _unsafe_index_put(
    batch: &Batch,
    this: Mapped,
    indices: Vec<Option<Mapped>>,
    values: Mapped,
    accumulate: bool,
) -> Result<Option<Mapped>> {
    put("aten::_unsafe_index_put", batch, &this, indices, &values, accumulate)
}
