//! Views that alias a whole tensor, and views with any strides.

use dispatch_runtime::prelude::*;

use crate::strided_view;

/// Returns a view with the same geometry.
#[op_def("alias(Tensor(a) self) -> Tensor(a)", body = CompositeExplicitAutograd)]
pub fn alias(_: ...) -> Result<Tensor> {
    Ok(this.restride(this.geometry().clone())?)
}

/// Returns a view with the same geometry, through which no gradient flows.
#[op_def("detach(Tensor(a) self) -> Tensor(a)", body = CompositeExplicitAutograd)]
pub fn detach(this: &Tensor) -> Result<Tensor> {
    Ok(this.restride(this.geometry().clone())?)
}

/// Returns a view of a new tensor. The call passes the tensor through the active layers.
#[op_def("lift_fresh(Tensor(a) self) -> Tensor(a)", body = CompositeExplicitAutograd)]
pub fn lift_fresh(this: &Tensor) -> Result<Tensor> {
    Ok(this.restride(this.geometry().clone())?)
}

/// Returns a view with any sizes, strides and offset in the tensor's storage.
#[op_def(
    "as_strided(Tensor(a) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor(a)",
    body = CompositeExplicitAutograd
)]
pub fn as_strided(this: &Tensor, size: &[i64], stride: &[i64], storage_offset: Option<i64>) -> Result<Tensor> {
    strided_view(this, size, stride, storage_offset.unwrap_or_else(|| this.geometry().offset()))
}

/// Changes `self` to its [`as_strided`] view, in place.
#[op_def(
    "as_strided_(Tensor(a!) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor(a!)",
    body = CompositeExplicitAutograd
)]
pub fn as_strided_(this: &mut Tensor, size: &[i64], stride: &[i64], storage_offset: Option<i64>) -> Result<()> {
    *this = as_strided(this, size, stride, storage_offset)?;
    Ok(())
}

/// Returns a view of the memory of `self` with the sizes, strides and offset of `src`, of which `self` is a slice.
#[op_def(
    "slice_inverse(Tensor(a) self, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor(a)"
)]
pub fn slice_inverse(_: ...) -> Result<Tensor> {
    crate::check_same_device([("self", this), ("src", src)])?;
    dispatch_runtime::wrap_dim("dim", dim, src.sizes().len())?;
    as_strided(this, src.sizes(), src.strides(), Some(src.geometry().offset()))
}
