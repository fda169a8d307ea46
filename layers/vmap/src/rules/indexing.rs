//! Batch rules of indexing operators, with indices along one dimension or several.

use dispatch_macros::op_vmap;
use dispatch_runtime::{DType, Operation, Operator, Result, Scalar, Tensor};

use crate::batch::{Batch, Mapped};
use crate::error::VmapError;
use crate::shape_words::{aligned, shift_dim};

/// Returns the slice indices, from 0 to the batch size minus 1.
fn numbers(batch: &Batch, on: &Tensor) -> Result<Tensor> {
    aten::arange(batch.size().into(), Some(DType::I64), None, Some(on.device()), None)
}

/// Expands the row indices of each slice to `columns`, as `gather` and `scatter` need them. An index out of range of its own table stays
/// out of range, so it never reads the table of another slice.
fn rows(batch: &Batch, indices: &Tensor, columns: i64) -> Result<Tensor> {
    let list = aten::to_dtype(
        &aten::reshape(indices, &[batch.size(), indices.geometry().count() / batch.size(), 1])?,
        DType::I64,
        false,
        false,
        None,
    )?;
    aten::expand(&list, &[-1, -1, columns], false)
}

#[op_vmap(aten::embedding)]
fn embedding(batch: &Batch, _: ...) -> Result<Mapped> {
    if !weight.is_mapped() {
        let indices = indices.front()?;
        let found = aten::embedding(weight.tensor(), &indices, padding_idx, scale_grad_by_freq, sparse)?;
        return Ok(Mapped::in_front(found));
    }
    let (tables, indices) = (weight.front()?, batch.each(&indices)?);
    let columns = tables.sizes()[2];
    let found = aten::gather(&tables, 1, &rows(batch, &indices, columns)?, false)?;
    Ok(Mapped::in_front(aten::reshape(&found, &[indices.sizes(), &[columns]].concat())?))
}

#[op_vmap(aten::embedding_dense_backward)]
fn embedding_dense_backward(batch: &Batch, _: ...) -> Result<Option<Mapped>> {
    if scale_grad_by_freq {
        return Ok(None);
    }
    let (grad, indices) = (batch.each(&grad_output)?, batch.each(&indices)?);
    let columns = grad.sizes().last().copied().unwrap_or(0);
    // The padding row receives no gradient. Its index may be out of range, so it is replaced by 0, with gradient zero.
    let padding = aten::eq_scalar(&indices, padding_idx.into())?;
    let places = aten::masked_fill_scalar(&indices, &padding, 0.into())?;
    let grad = aten::masked_fill_scalar(&grad, &aten::unsqueeze(&padding, -1)?, 0.into())?;
    let grad = aten::reshape(&grad, &[batch.size(), indices.geometry().count() / batch.size(), columns])?;
    let none = aten::new_zeros(&grad, &[batch.size(), num_weights, columns], None, None, None, None)?;
    Ok(Some(Mapped::in_front(aten::scatter_add(&none, 1, &rows(batch, &places, columns)?, &grad)?)))
}

/// The indices of an operator such as `index`, with each mask converted to index tensors.
struct Places {
    indices: Vec<Option<Mapped>>,
    /// The number of dimensions to which the indices broadcast.
    rank: usize,
    /// The number of dimensions in front of those in the result of one slice.
    before: usize,
}

fn is_mask(index: &Mapped) -> bool {
    matches!(index.tensor().dtype(), DType::Bool | DType::U8)
}

impl Places {
    /// Converts the indices for a tensor of these sizes. Returns `None` if a mask differs in size from the dimensions that it covers.
    fn new(operator: &Operator, sizes: &[i64], indices: Vec<Option<Mapped>>) -> Result<Option<Self>> {
        let mut all = Vec::new();
        for index in indices {
            match index {
                Some(mask) if is_mask(&mask) => {
                    if mask.is_mapped() {
                        return Err(VmapError::DataDependent { operator: operator.to_string() }.into());
                    }
                    let covered = sizes.get(all.len()..all.len() + mask.rank());
                    if mask.rank() == 0 || covered != Some(mask.tensor().sizes()) {
                        return Ok(None);
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
        Ok(Some(Self { indices: all, rank, before }))
    }

    fn are_mapped(&self) -> bool {
        self.indices.iter().flatten().any(Mapped::is_mapped)
    }

    /// Returns the indices for the tensor with the batch in front, whose first index is the slice number.
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

    /// Returns the dimensions of the indices in the batched result, and where they belong.
    fn moved(&self) -> (Vec<i64>, Vec<i64>) {
        let dims = |from: usize| (from..from + self.rank).filter_map(|dim| i64::try_from(dim).ok()).collect();
        (dims(1), dims(1 + self.before))
    }
}

fn index_of(operator: &Operator, batch: &Batch, this: &Mapped, indices: Vec<Option<Mapped>>) -> Result<Option<Mapped>> {
    let Some(places) = Places::new(operator, this.first()?.sizes(), indices)? else { return Ok(None) };
    if !this.is_mapped() {
        let all = places.indices.iter().map(|index| index.as_ref().map(|index| places.aligned(index)).transpose());
        let found = aten::index(this.tensor(), &all.collect::<Result<Vec<_>>>()?)?;
        return Ok(Some(Mapped { tensor: found, dim: Some(places.before) }));
    }
    let each = this.front()?;
    let found = aten::index(&each, &places.in_batch(batch, &each)?)?;
    let (here, there) = places.moved();
    Ok(Some(Mapped::in_front(aten::movedim_intlist(&found, &here, &there)?)))
}

/// Batches `index_put` and its variants. Returns `None` for masks: each slice may select another number of elements.
fn put(
    operator: &Operator,
    batch: &Batch,
    this: &Mapped,
    indices: Vec<Option<Mapped>>,
    values: &Mapped,
    accumulate: bool,
) -> Result<Option<Mapped>> {
    if indices.iter().flatten().any(is_mask) {
        return Ok(None);
    }
    let Some(places) = Places::new(operator, this.first()?.sizes(), indices)? else { return Ok(None) };
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

macro_rules! by_indices {
    ($($index:ident $put:ident)*) => {$(
        #[op_vmap(aten::$index)]
        fn $index(batch: &Batch, this: Mapped, indices: Vec<Option<Mapped>>) -> Result<Option<Mapped>> {
            index_of(<aten::$index as Operation>::operator(), batch, &this, indices)
        }

        #[op_vmap(aten::$put)]
        fn $put(batch: &Batch, _: ...) -> Result<Option<Mapped>> {
            put(<aten::$put as Operation>::operator(), batch, &this, indices, &values, accumulate)
        }
    )*};
}

by_indices! {
    index index_put
    _unsafe_index _unsafe_index_put
}

/// Expands the indices of each slice to all other dimensions, as `gather` and `scatter` need them.
fn spread(batch: &Batch, index: &Mapped, sizes: &[i64], at: i64) -> Result<Tensor> {
    let count = dispatch_runtime::element_count(index.first()?.sizes());
    let at = usize::try_from(at).unwrap_or(usize::MAX);
    let mut column = vec![1; sizes.len()];
    (column[0], column[at]) = (batch.size(), count);
    let mut all = sizes.to_vec();
    all[at] = count;
    aten::expand(&aten::reshape(&index.front()?, &column)?, &all, false)
}

/// Adds the size to negative indices, which count from the end.
fn counted_from_the_end(places: &Tensor, size: i64) -> Result<Tensor> {
    let below = aten::lt_scalar(places, 0.into())?;
    aten::where_self(&below, &aten::add_scalar(places, size.into(), 1.into())?, places)
}

#[op_vmap(aten::index_select)]
fn index_select(batch: &Batch, this: Mapped, dim: i64, index: Mapped) -> Result<Option<Mapped>> {
    if this.rank() == 0 {
        return Ok(None);
    }
    let at = shift_dim(dim, this.rank())?;
    if !index.is_mapped() {
        return Ok(Some(Mapped::in_front(aten::index_select(&this.front()?, at, index.tensor())?)));
    }
    let each = batch.each(&this)?;
    let places = spread(batch, &index, each.sizes(), at)?;
    Ok(Some(Mapped::in_front(aten::gather(&each, at, &places, false)?)))
}

#[op_vmap(aten::index_add)]
fn index_add(batch: &Batch, _: ...) -> Result<Option<Mapped>> {
    let is_cut_short = matches!(alpha, Scalar::Float(_)) && !this.tensor().dtype().is_floating();
    if this.rank() == 0 || source.rank() != this.rank() || is_cut_short {
        return Ok(None);
    }
    let at = shift_dim(dim, this.rank())?;
    let (each, source) = (batch.each(&this)?, batch.each(&source)?);
    if !index.is_mapped() {
        return Ok(Some(Mapped::in_front(aten::index_add(&each, at, index.tensor(), &source, alpha)?)));
    }
    let places = spread(batch, &index, source.sizes(), at)?;
    Ok(Some(Mapped::in_front(aten::scatter_add(&each, at, &places, &aten::mul_scalar(&source, alpha)?)?)))
}

#[op_vmap(aten::index_copy)]
fn index_copy(batch: &Batch, this: Mapped, dim: i64, index: Mapped, source: Mapped) -> Result<Option<Mapped>> {
    if this.rank() == 0 || source.rank() != this.rank() {
        return Ok(None);
    }
    let at = shift_dim(dim, this.rank())?;
    let (each, source) = (batch.each(&this)?, batch.each(&source)?);
    if !index.is_mapped() {
        return Ok(Some(Mapped::in_front(aten::index_copy(&each, at, index.tensor(), &source)?)));
    }
    let places = spread(batch, &index, source.sizes(), at)?;
    Ok(Some(Mapped::in_front(aten::scatter_src(&each, at, &places, &source)?)))
}

#[op_vmap(aten::index_fill_int_scalar)]
fn index_fill_int_scalar(batch: &Batch, _: ...) -> Result<Option<Mapped>> {
    if this.rank() == 0 {
        return Ok(None);
    }
    let at = shift_dim(dim, this.rank())?;
    let each = batch.each(&this)?;
    if !index.is_mapped() {
        return Ok(Some(Mapped::in_front(aten::index_fill_int_scalar(&each, at, index.tensor(), value)?)));
    }
    let size = usize::try_from(at).ok().and_then(|at| each.sizes().get(at).copied()).unwrap_or(0);
    let index = Mapped { tensor: counted_from_the_end(&index.tensor, size)?, dim: index.dim };
    let places = spread(batch, &index, each.sizes(), at)?;
    Ok(Some(Mapped::in_front(aten::scatter_value(&each, at, &places, value)?)))
}
