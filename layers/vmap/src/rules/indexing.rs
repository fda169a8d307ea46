//! Batch rules of indexing operators, with indices along one dimension or several.

use dispatch_macros::op_vmap;
use dispatch_runtime::{DType, Operation, Operator, Result, Scalar, Tensor};

use crate::batch::{Batch, Mapped};
use crate::error::VmapError;
use crate::shape_words::{align_rank, shift_dim};

/// Returns the slice indices, from 0 to the batch size minus 1.
fn slice_numbers(batch: &Batch, on: &Tensor) -> Result<Tensor> {
    aten::arange(batch.size().into(), Some(DType::I64), None, Some(on.device()), None)
}

/// Expands the row indices of each slice to `columns`, as `gather` and `scatter` need them. An index out of range of its own table stays
/// out of range, so it never reads the table of another slice.
fn expand_embedding_indices(batch: &Batch, indices: &Tensor, columns: i64) -> Result<Tensor> {
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
        let indices = indices.batch_first()?;
        let found = aten::embedding(weight.tensor(), &indices, padding_idx, scale_grad_by_freq, sparse)?;
        return Ok(Mapped::from_batch_first(found));
    }
    let (tables, indices) = (weight.batch_first()?, batch.expand_batch_first(&indices)?);
    let columns = tables.sizes()[2];
    let found = aten::gather(&tables, 1, &expand_embedding_indices(batch, &indices, columns)?, false)?;
    Ok(Mapped::from_batch_first(aten::reshape(&found, &[indices.sizes(), &[columns]].concat())?))
}

#[op_vmap(aten::embedding_dense_backward)]
fn embedding_dense_backward(batch: &Batch, _: ...) -> Result<Option<Mapped>> {
    if scale_grad_by_freq {
        return Ok(None);
    }
    let (grad, indices) = (batch.expand_batch_first(&grad_output)?, batch.expand_batch_first(&indices)?);
    let columns = grad.sizes().last().copied().unwrap_or(0);
    // The padding row receives no gradient. Its index may be out of range, so it is replaced by 0, with gradient zero.
    let padding = aten::eq_scalar(&indices, padding_idx.into())?;
    let indices_of_all = aten::masked_fill_scalar(&indices, &padding, 0.into())?;
    let grad = aten::masked_fill_scalar(&grad, &aten::unsqueeze(&padding, -1)?, 0.into())?;
    let grad = aten::reshape(&grad, &[batch.size(), indices.geometry().count() / batch.size(), columns])?;
    let none = aten::new_zeros(&grad, &[batch.size(), num_weights, columns], None, None, None, None)?;
    Ok(Some(Mapped::from_batch_first(aten::scatter_add(
        &none,
        1,
        &expand_embedding_indices(batch, &indices_of_all, columns)?,
        &grad,
    )?)))
}

/// The indices of an operator such as `index`, with each mask converted to index tensors.
struct IndexTensors {
    indices: Vec<Option<Mapped>>,
    /// The number of dimensions to which the indices broadcast.
    rank: usize,
    /// The number of dimensions that come before the dimensions of the indices in the result of one slice.
    leading_dims: usize,
}

fn is_mask(index: &Mapped) -> bool {
    matches!(index.tensor().dtype(), DType::Bool | DType::U8)
}

impl IndexTensors {
    /// Converts the indices for a tensor of these sizes. Returns `None` if a mask differs in size from the dimensions that it covers.
    fn new(operator: &Operator, sizes: &[i64], indices: Vec<Option<Mapped>>) -> Result<Option<Self>> {
        let mut all = Vec::new();
        for index in indices {
            match index {
                Some(mask) if is_mask(&mask) => {
                    if mask.is_mapped() {
                        return Err(VmapError::DataDependent { operator: operator.to_string() }.into());
                    }
                    let covered = sizes.get(all.len()..all.len() + mask.slice_rank());
                    if mask.slice_rank() == 0 || covered != Some(mask.tensor().sizes()) {
                        return Ok(None);
                    }
                    let indices_of_all = aten::nonzero_numpy(mask.tensor())?;
                    all.extend(
                        indices_of_all.into_iter().map(|indices_of_all| Some(Mapped::same_for_all(indices_of_all))),
                    );
                }
                other => all.push(other),
            }
        }
        let given: Vec<usize> = (0..all.len()).filter(|&at| all[at].is_some()).collect();
        let are_adjacent = given.windows(2).all(|pair| pair[0] + 1 == pair[1]);
        let leading_dims = if are_adjacent { given.first().copied().unwrap_or(0) } else { 0 };
        let rank = all.iter().flatten().map(Mapped::slice_rank).max().unwrap_or(0);
        Ok(Some(Self { indices: all, rank, leading_dims }))
    }

    fn has_mapped_index(&self) -> bool {
        self.indices.iter().flatten().any(Mapped::is_mapped)
    }

    /// Returns the indices for the tensor with the batch in front, whose first index is the slice number.
    fn with_slice_numbers(&self, batch: &Batch, each: &Tensor) -> Result<Vec<Option<Tensor>>> {
        let mut column = vec![1; self.rank + 1];
        column[0] = batch.size();
        let mut all = vec![Some(aten::reshape(&slice_numbers(batch, each)?, &column)?)];
        for index in &self.indices {
            let index = index.as_ref();
            all.push(index.map(|index| self.align_index_rank(index)).transpose()?);
        }
        Ok(all)
    }

    fn align_index_rank(&self, index: &Mapped) -> Result<Tensor> {
        if index.is_mapped() { align_rank(index, self.rank) } else { Ok(index.tensor().clone()) }
    }

    /// Returns the dimensions of the indices in the batched result, and the positions to which they must be moved.
    fn index_dim_moves(&self) -> (Vec<i64>, Vec<i64>) {
        let dims = |from: usize| (from..from + self.rank).filter_map(|dim| i64::try_from(dim).ok()).collect();
        (dims(1), dims(1 + self.leading_dims))
    }
}

fn batch_index(
    operator: &Operator,
    batch: &Batch,
    this: &Mapped,
    indices: Vec<Option<Mapped>>,
) -> Result<Option<Mapped>> {
    let Some(indices_of_all) = IndexTensors::new(operator, this.first_slice()?.sizes(), indices)? else {
        return Ok(None);
    };
    if !this.is_mapped() {
        let all = indices_of_all
            .indices
            .iter()
            .map(|index| index.as_ref().map(|index| indices_of_all.align_index_rank(index)).transpose());
        let found = aten::index(this.tensor(), &all.collect::<Result<Vec<_>>>()?)?;
        return Ok(Some(Mapped { tensor: found, dim: Some(indices_of_all.leading_dims) }));
    }
    let each = this.batch_first()?;
    let found = aten::index(&each, &indices_of_all.with_slice_numbers(batch, &each)?)?;
    let (source, destination) = indices_of_all.index_dim_moves();
    Ok(Some(Mapped::from_batch_first(aten::movedim_intlist(&found, &source, &destination)?)))
}

/// Batches `index_put` and its variants. Returns `None` for masks: each slice may select another number of elements.
fn batch_index_put(
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
    let Some(indices_of_all) = IndexTensors::new(operator, this.first_slice()?.sizes(), indices)? else {
        return Ok(None);
    };
    let given = indices_of_all.indices.iter().flatten().count();
    let rank = this.slice_rank() + indices_of_all.rank - given;
    let each = batch.expand_batch_first(this)?;
    let (source, destination) = indices_of_all.index_dim_moves();
    let values = if values.is_mapped() || indices_of_all.leading_dims > 0 || indices_of_all.has_mapped_index() {
        aten::movedim_intlist(
            &align_rank(&Mapped::from_batch_first(batch.expand_batch_first(values)?), rank)?,
            &destination,
            &source,
        )?
    } else {
        values.tensor().clone()
    };
    Ok(Some(Mapped::from_batch_first(aten::index_put(
        &each,
        &indices_of_all.with_slice_numbers(batch, &each)?,
        &values,
        accumulate,
    )?)))
}

macro_rules! index_rules {
    ($($index:ident $put:ident)*) => {$(
        #[op_vmap(aten::$index)]
        fn $index(batch: &Batch, this: Mapped, indices: Vec<Option<Mapped>>) -> Result<Option<Mapped>> {
            batch_index(<aten::$index as Operation>::operator(), batch, &this, indices)
        }

        #[op_vmap(aten::$put)]
        fn $put(batch: &Batch, _: ...) -> Result<Option<Mapped>> {
            batch_index_put(<aten::$put as Operation>::operator(), batch, &this, indices, &values, accumulate)
        }
    )*};
}

index_rules! {
    index index_put
    _unsafe_index _unsafe_index_put
}

/// Expands the indices of each slice to all other dimensions, as `gather` and `scatter` need them.
fn expand_index(batch: &Batch, index: &Mapped, sizes: &[i64], at: i64) -> Result<Tensor> {
    let count = dispatch_runtime::element_count(index.first_slice()?.sizes());
    let at = usize::try_from(at).unwrap_or(usize::MAX);
    let mut column = vec![1; sizes.len()];
    (column[0], column[at]) = (batch.size(), count);
    let mut all = sizes.to_vec();
    all[at] = count;
    aten::expand(&aten::reshape(&index.batch_first()?, &column)?, &all, false)
}

/// Adds the size to negative indices, which count from the end.
fn wrap_negative_indices(indices_of_all: &Tensor, size: i64) -> Result<Tensor> {
    let below = aten::lt_scalar(indices_of_all, 0.into())?;
    aten::where_self(&below, &aten::add_scalar(indices_of_all, size.into(), 1.into())?, indices_of_all)
}

#[op_vmap(aten::index_select)]
fn index_select(batch: &Batch, this: Mapped, dim: i64, index: Mapped) -> Result<Option<Mapped>> {
    if this.slice_rank() == 0 {
        return Ok(None);
    }
    let at = shift_dim(dim, this.slice_rank())?;
    if !index.is_mapped() {
        return Ok(Some(Mapped::from_batch_first(aten::index_select(&this.batch_first()?, at, index.tensor())?)));
    }
    let each = batch.expand_batch_first(&this)?;
    let indices_of_all = expand_index(batch, &index, each.sizes(), at)?;
    Ok(Some(Mapped::from_batch_first(aten::gather(&each, at, &indices_of_all, false)?)))
}

#[op_vmap(aten::index_add)]
fn index_add(batch: &Batch, _: ...) -> Result<Option<Mapped>> {
    let is_truncated = matches!(alpha, Scalar::Float(_)) && !this.tensor().dtype().is_floating();
    if this.slice_rank() == 0 || source.slice_rank() != this.slice_rank() || is_truncated {
        return Ok(None);
    }
    let at = shift_dim(dim, this.slice_rank())?;
    let (each, source) = (batch.expand_batch_first(&this)?, batch.expand_batch_first(&source)?);
    if !index.is_mapped() {
        return Ok(Some(Mapped::from_batch_first(aten::index_add(&each, at, index.tensor(), &source, alpha)?)));
    }
    let indices_of_all = expand_index(batch, &index, source.sizes(), at)?;
    Ok(Some(Mapped::from_batch_first(aten::scatter_add(
        &each,
        at,
        &indices_of_all,
        &aten::mul_scalar(&source, alpha)?,
    )?)))
}

#[op_vmap(aten::index_copy)]
fn index_copy(batch: &Batch, this: Mapped, dim: i64, index: Mapped, source: Mapped) -> Result<Option<Mapped>> {
    if this.slice_rank() == 0 || source.slice_rank() != this.slice_rank() {
        return Ok(None);
    }
    let at = shift_dim(dim, this.slice_rank())?;
    let (each, source) = (batch.expand_batch_first(&this)?, batch.expand_batch_first(&source)?);
    if !index.is_mapped() {
        return Ok(Some(Mapped::from_batch_first(aten::index_copy(&each, at, index.tensor(), &source)?)));
    }
    let indices_of_all = expand_index(batch, &index, source.sizes(), at)?;
    Ok(Some(Mapped::from_batch_first(aten::scatter_src(&each, at, &indices_of_all, &source)?)))
}

#[op_vmap(aten::index_fill_int_scalar)]
fn index_fill_int_scalar(batch: &Batch, _: ...) -> Result<Option<Mapped>> {
    if this.slice_rank() == 0 {
        return Ok(None);
    }
    let at = shift_dim(dim, this.slice_rank())?;
    let each = batch.expand_batch_first(&this)?;
    if !index.is_mapped() {
        return Ok(Some(Mapped::from_batch_first(aten::index_fill_int_scalar(&each, at, index.tensor(), value)?)));
    }
    let size = usize::try_from(at).ok().and_then(|at| each.sizes().get(at).copied()).unwrap_or(0);
    let index = Mapped { tensor: wrap_negative_indices(&index.tensor, size)?, dim: index.dim };
    let indices_of_all = expand_index(batch, &index, each.sizes(), at)?;
    Ok(Some(Mapped::from_batch_first(aten::scatter_value(&each, at, &indices_of_all, value)?)))
}
