//! Elements at places along one dimension, which one index lists, for all slices or for each.

use dispatch_macros::op_vmap;
use dispatch_runtime::{Result, Scalar, Tensor};

use crate::batch::{Batch, Mapped};
use crate::shape_words::behind;

/// A list of places for each slice, as `gather` and `scatter` take them: one for each element beside the dimension, too.
fn spread(batch: &Batch, index: &Mapped, sizes: &[i64], at: i64) -> Result<Tensor> {
    let count = dispatch_runtime::element_count(index.first()?.sizes());
    let at = usize::try_from(at).unwrap_or(usize::MAX);
    let mut column = vec![1; sizes.len()];
    (column[0], column[at]) = (batch.size(), count);
    let mut all = sizes.to_vec();
    all[at] = count;
    aten::expand(&aten::reshape(&index.front()?, &column)?, &all, false)
}

/// Places below zero, which count from the end, as the others.
fn counted_from_the_end(places: &Tensor, size: i64) -> Result<Tensor> {
    let below = aten::lt_scalar(places, 0.into())?;
    aten::where_self(&below, &aten::add_scalar(places, size.into(), 1.into())?, places)
}

#[op_vmap(aten::index_select)]
fn index_select(batch: &Batch, this: Mapped, dim: i64, index: Mapped) -> Result<Option<Mapped>> {
    if this.rank() == 0 {
        return Ok(None);
    }
    let at = behind(dim, this.rank())?;
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
    let at = behind(dim, this.rank())?;
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
    let at = behind(dim, this.rank())?;
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
    let at = behind(dim, this.rank())?;
    let each = batch.each(&this)?;
    if !index.is_mapped() {
        return Ok(Some(Mapped::in_front(aten::index_fill_int_scalar(&each, at, index.tensor(), value)?)));
    }
    let size = usize::try_from(at).ok().and_then(|at| each.sizes().get(at).copied()).unwrap_or(0);
    let index = Mapped { tensor: counted_from_the_end(&index.tensor, size)?, dim: index.dim };
    let places = spread(batch, &index, each.sizes(), at)?;
    Ok(Some(Mapped::in_front(aten::scatter_value(&each, at, &places, value)?)))
}
