//! Operators about where elements are in memory, which no result of a loop shares with a batch.

use dispatch_macros::op_vmap;
use dispatch_runtime::{Operation, Result};

use crate::batch::{Batch, Mapped};
use crate::views;

/// A handle that is bound to a view of what it was is bound to the view for all slices.
macro_rules! bound_to {
    ($($operator:ident: $view:ident;)*) => {$(
        by_values! {
            |batch, _, arguments| views::call(batch, <aten::$view as Operation>::operator(), arguments).map(Some) => $operator
        }
    )*};
}

bound_to! {
    as_strided_: as_strided;
    squeeze_: squeeze;
    squeeze__dim: squeeze_dim;
    squeeze__dims: squeeze_dims;
    t_: t;
    transpose_: transpose_int;
    unsqueeze_: unsqueeze;
}

/// Sizes and strides of a slice as those of all, with the batch in front; none where there is one slice for all.
fn of_all(batch: &Batch, this: &Mapped, size: &[i64], stride: &[i64]) -> Option<(Vec<i64>, Vec<i64>)> {
    let between = *this.tensor.strides().get(this.dim?)?;
    Some(([&[batch.size()], size].concat(), [&[between], stride].concat()))
}

/// What all slices show of their memory is one view of the memory of all.
#[op_vmap(aten::as_strided_copy)]
fn as_strided_copy(batch: &Batch, _: ...) -> Result<Option<Mapped>> {
    let Some((sizes, strides)) = of_all(batch, &this, size, stride) else { return Ok(None) };
    Ok(Some(Mapped::in_front(aten::as_strided_copy(&this.tensor, &sizes, &strides, storage_offset)?)))
}

/// The same, and what it replaces is theirs alone where they have their own.
#[op_vmap(aten::as_strided_scatter)]
fn as_strided_scatter(batch: &Batch, _: ...) -> Result<Option<Mapped>> {
    let Some((sizes, strides)) = of_all(batch, &this, size, stride) else { return Ok(None) };
    let tensor = aten::as_strided_scatter(&this.tensor, &batch.each(&src)?, &sizes, &strides, storage_offset)?;
    Ok(Some(Mapped { tensor, dim: this.dim }))
}
