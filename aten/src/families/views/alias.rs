//! Views with the same elements, and with any strides.

use dispatch_runtime::prelude::*;

use crate::restrided;

/// The same elements in another tensor.
#[op_def("alias(Tensor(a) self) -> Tensor(a)", body = CompositeExplicitAutograd)]
pub fn alias(_: ...) -> Result<Tensor> {
    Ok(this.restride(this.geometry().clone())?)
}

/// The same elements, of which no derivative is known.
#[op_def("detach(Tensor(a) self) -> Tensor(a)", body = CompositeExplicitAutograd)]
pub fn detach(this: &Tensor) -> Result<Tensor> {
    Ok(this.restride(this.geometry().clone())?)
}

/// The same elements: a tensor that was just made enters the layers of the call.
#[op_def("lift_fresh(Tensor(a) self) -> Tensor(a)", body = CompositeExplicitAutograd)]
pub fn lift_fresh(this: &Tensor) -> Result<Tensor> {
    Ok(this.restride(this.geometry().clone())?)
}

/// Any walk through the tensor's memory.
#[op_def(
    "as_strided(Tensor(a) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor(a)",
    body = CompositeExplicitAutograd
)]
pub fn as_strided(this: &Tensor, size: &[i64], stride: &[i64], storage_offset: Option<i64>) -> Result<Tensor> {
    restrided(this, size, stride, storage_offset.unwrap_or_else(|| this.geometry().offset()))
}

/// [`as_strided`], of the handle itself.
#[op_def(
    "as_strided_(Tensor(a!) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor(a!)",
    body = CompositeExplicitAutograd
)]
pub fn as_strided_(this: &mut Tensor, size: &[i64], stride: &[i64], storage_offset: Option<i64>) -> Result<()> {
    *this = as_strided(this, size, stride, storage_offset)?;
    Ok(())
}
