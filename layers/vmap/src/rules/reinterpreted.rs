//! Views as another dtype: the last dimension changes, and the batch is not the last.

use dispatch_macros::op_vmap;
use dispatch_runtime::{DType, Result};

use crate::batch::{Batch, Mapped};

#[op_vmap(aten::view_as_complex)]
fn view_as_complex(_: &Batch, this: Mapped) -> Result<Mapped> {
    // What a slice alone cannot be, the batch would make possible.
    aten::view_as_complex(&this.first()?)?;
    Ok(Mapped::in_front(aten::view_as_complex(&this.front()?)?))
}

#[op_vmap(aten::view_as_real)]
fn view_as_real(_: &Batch, this: Mapped) -> Result<Mapped> {
    Ok(Mapped::in_front(aten::view_as_real(&this.front()?)?))
}

#[op_vmap(aten::view_dtype)]
fn view_dtype(_: &Batch, this: Mapped, dtype: DType) -> Result<Mapped> {
    aten::view_dtype(&this.first()?, dtype)?;
    Ok(Mapped::in_front(aten::view_dtype(&this.front()?, dtype)?))
}
