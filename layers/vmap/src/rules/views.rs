//! Batch rules of views that are no change of strides: in-place views, views as another dtype, `as_strided_copy`. Also of the scatter
//! operators that are the gradients of views.

use dispatch_macros::op_vmap;
use dispatch_runtime::{DType, Operation, Operator, Result, Value};

use crate::batch::{Batch, Mapped};
use crate::error::VmapError;
use crate::shape_words::{align_rank, shift_dim};
use crate::{call, views};

/// Defines batch rules of in-place views: the handle is bound to the view of all slices.
macro_rules! in_place_view_rules {
    ($($operator:ident: $view:ident;)*) => {$(
        value_rules! {
            |batch, _, arguments| views::call_view(batch, <aten::$view as Operation>::operator(), arguments).map(Some) => $operator
        }
    )*};
}

in_place_view_rules! {
    as_strided_: as_strided;
    squeeze_: squeeze;
    squeeze__dim: squeeze_dim;
    squeeze__dims: squeeze_dims;
    t_: t;
    transpose_: transpose_int;
    unsqueeze_: unsqueeze;
}

/// Refuses operators that give a tensor other memory or other sizes: a batch has the memory of all slices.
fn refuse_other_memory(_: &Batch, operator: &Operator, _: &[Value]) -> Result<Option<Vec<Value>>> {
    Err(VmapError::ViewWithoutRule { operator: operator.to_string() }.into())
}

value_rules! {
    refuse_other_memory =>
    resize_ resize_as_ set_ set__source_storage set__source_storage_storage_offset set__source_tensor
    set__source_tensor_storage_offset set_data shallow_copy_data_ set_source_storage set_source_storage_storage_offset
}

/// Returns the sizes and strides of all slices, given those of one slice. `None` if the tensor is not batched.
fn batched_geometry(batch: &Batch, this: &Mapped, size: &[i64], stride: &[i64]) -> Option<(Vec<i64>, Vec<i64>)> {
    let between = *this.tensor.strides().get(this.dim?)?;
    Some(([&[batch.size()], size].concat(), [&[between], stride].concat()))
}

/// Batches `as_strided_copy`: the elements of all slices are one strided view.
#[op_vmap(aten::as_strided_copy)]
fn as_strided_copy(batch: &Batch, _: ...) -> Result<Option<Mapped>> {
    let Some((sizes, strides)) = batched_geometry(batch, &this, size, stride) else { return Ok(None) };
    Ok(Some(Mapped::from_batch_first(aten::as_strided_copy(&this.tensor, &sizes, &strides, storage_offset)?)))
}

/// Batches `as_strided_scatter`: each slice replaces its own elements.
#[op_vmap(aten::as_strided_scatter)]
fn as_strided_scatter(batch: &Batch, _: ...) -> Result<Option<Mapped>> {
    let Some((sizes, strides)) = batched_geometry(batch, &this, size, stride) else { return Ok(None) };
    let tensor =
        aten::as_strided_scatter(&this.tensor, &batch.expand_batch_first(&src)?, &sizes, &strides, storage_offset)?;
    Ok(Some(Mapped { tensor, dim: this.dim }))
}

/// Batches `view_as_complex`, which changes only the last dimension.
#[op_vmap(aten::view_as_complex)]
fn view_as_complex(_: &Batch, this: Mapped) -> Result<Mapped> {
    // An error for one slice must be an error here, although the batch may be valid.
    aten::view_as_complex(&this.first_slice()?)?;
    Ok(Mapped::from_batch_first(aten::view_as_complex(&this.batch_first()?)?))
}

#[op_vmap(aten::view_as_real)]
fn view_as_real(_: &Batch, this: Mapped) -> Result<Mapped> {
    Ok(Mapped::from_batch_first(aten::view_as_real(&this.batch_first()?)?))
}

#[op_vmap(aten::_conj)]
fn _conj(_: &Batch, this: Mapped) -> Result<Mapped> {
    Ok(Mapped { tensor: aten::_conj(&this.tensor)?, dim: this.dim })
}

#[op_vmap(aten::_neg_view)]
fn _neg_view(_: &Batch, this: Mapped) -> Result<Mapped> {
    Ok(Mapped { tensor: aten::_neg_view(&this.tensor)?, dim: this.dim })
}

#[op_vmap(aten::view_dtype)]
fn view_dtype(_: &Batch, this: Mapped, dtype: DType) -> Result<Mapped> {
    aten::view_dtype(&this.first_slice()?, dtype)?;
    Ok(Mapped::from_batch_first(aten::view_dtype(&this.batch_first()?, dtype)?))
}

/// Batches operators that write a part into a larger tensor. Their dimensions are those of the larger tensor.
fn batch_write_of_part(batch: &Batch, operator: &Operator, arguments: &[Value]) -> Result<Option<Vec<Value>>> {
    let rank = match (&arguments[0], &arguments[1]) {
        (_, Value::Ints(sizes)) => sizes.len(),
        (Value::Tensor(whole), _) => whole.sizes().len(),
        _ => 0,
    };
    if rank == 0 {
        return Ok(None);
    }
    let mut values = arguments.to_vec();
    for (value, argument) in values.iter_mut().zip(&operator.schema().arguments) {
        *value = match (&*value, argument.name.as_str()) {
            (Value::Tensor(tensor), _) => batch.expand_batch_first(&batch.unwrap_tensor(tensor))?.into(),
            (Value::Ints(sizes), _) => [&[batch.size()], &sizes[..]].concat().into(),
            (Value::Int(dim), "dim" | "dim1" | "dim2") => shift_dim(*dim, rank)?.into(),
            _ => continue,
        };
    }
    call::wrap_call_results(batch, operator, arguments, operator.call(values)?).map(Some)
}

value_rules! {
    batch_write_of_part =>
    select_backward slice_backward diagonal_backward unfold_backward
    select_scatter slice_scatter diagonal_scatter
}

#[op_vmap(aten::copy)]
fn copy(batch: &Batch, this: Mapped, src: Mapped, non_blocking: bool) -> Result<Mapped> {
    let source = if src.is_mapped() { align_rank(&src, this.slice_rank())? } else { src.tensor().clone() };
    Ok(Mapped::from_batch_first(aten::copy(&batch.expand_batch_first(&this)?, &source, non_blocking)?))
}
