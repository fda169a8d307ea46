//! Copies of views: each operator computes a view and copies it to new memory.

use dispatch_runtime::Spec;
use dispatch_runtime::prelude::*;

/// Copies the elements to new contiguous memory.
#[op_def("alias_copy(Tensor self) -> Tensor", out = "out")]
pub fn alias_copy(_: ...) -> Result<Tensor>;

#[op_meta(alias_copy)]
fn alias_copy_meta(this: &Tensor) -> Result<Tensor> {
    Spec::contiguous(this.dtype(), this.sizes()).on(Device::META)
}

/// Copies the result of [`detach`] to new memory.
#[op_def("detach_copy(Tensor self) -> Tensor", out = "out")]
pub fn detach_copy(this: &Tensor) -> Result<Tensor> {
    alias_copy(&crate::detach(this)?)
}

/// Copies the result of [`view`] to new memory.
#[op_def("view_copy(Tensor self, SymInt[] size) -> Tensor", out = "out")]
pub fn view_copy(this: &Tensor, size: &[i64]) -> Result<Tensor> {
    alias_copy(&crate::view(this, size)?)
}

/// Copies the result of [`view_dtype`] to new memory.
#[op_def("view_copy.dtype(Tensor self, ScalarType dtype) -> Tensor", out = "dtype_out")]
pub fn view_copy_dtype(this: &Tensor, dtype: DType) -> Result<Tensor> {
    alias_copy(&crate::view_dtype(this, dtype)?)
}

/// Copies the result of [`as_strided`] to new memory.
#[op_def(
    "as_strided_copy(Tensor self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor",
    out = "out"
)]
pub fn as_strided_copy(this: &Tensor, size: &[i64], stride: &[i64], storage_offset: Option<i64>) -> Result<Tensor> {
    alias_copy(&crate::as_strided(this, size, stride, storage_offset)?)
}

/// Copies the result of [`expand`] to new memory.
#[op_def("expand_copy(Tensor self, SymInt[] size, *, bool implicit=False) -> Tensor", out = "out")]
pub fn expand_copy(this: &Tensor, size: &[i64], implicit: bool) -> Result<Tensor> {
    alias_copy(&crate::expand(this, size, implicit)?)
}

/// Copies the result of [`permute`] to new memory.
#[op_def("permute_copy(Tensor self, int[] dims) -> Tensor", out = "out")]
pub fn permute_copy(this: &Tensor, dims: &[i64]) -> Result<Tensor> {
    alias_copy(&crate::permute(this, dims)?)
}

/// Copies the result of [`transpose_int`] to new memory.
#[op_def("transpose_copy.int(Tensor self, int dim0, int dim1) -> Tensor", out = "int_out")]
pub fn transpose_copy_int(this: &Tensor, dim0: i64, dim1: i64) -> Result<Tensor> {
    alias_copy(&crate::transpose_int(this, dim0, dim1)?)
}

/// Copies the result of [`t`] to new memory.
#[op_def("t_copy(Tensor self) -> Tensor", out = "out")]
pub fn t_copy(this: &Tensor) -> Result<Tensor> {
    alias_copy(&crate::t(this)?)
}

/// Copies the result of [`select_int`] to new memory.
#[op_def("select_copy.int(Tensor self, int dim, SymInt index) -> Tensor", out = "int_out")]
pub fn select_copy_int(this: &Tensor, dim: i64, index: i64) -> Result<Tensor> {
    alias_copy(&crate::select_int(this, dim, index)?)
}

/// Copies the result of [`slice`] to new memory.
#[op_def(
    "slice_copy.Tensor(Tensor self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor",
    out = "Tensor_out"
)]
pub fn slice_copy(this: &Tensor, dim: i64, start: Option<i64>, end: Option<i64>, step: i64) -> Result<Tensor> {
    alias_copy(&crate::slice(this, dim, start, end, step)?)
}

/// Copies the result of [`squeeze`] to new memory.
#[op_def("squeeze_copy(Tensor self) -> Tensor", out = "out")]
pub fn squeeze_copy(this: &Tensor) -> Result<Tensor> {
    alias_copy(&crate::squeeze(this)?)
}

/// Copies the result of [`squeeze_dim`] to new memory.
#[op_def("squeeze_copy.dim(Tensor self, int dim) -> Tensor", out = "dim_out")]
pub fn squeeze_copy_dim(this: &Tensor, dim: i64) -> Result<Tensor> {
    alias_copy(&crate::squeeze_dim(this, dim)?)
}

/// Copies the result of [`squeeze_dims`] to new memory.
#[op_def("squeeze_copy.dims(Tensor self, int[] dim) -> Tensor", out = "dims_out")]
pub fn squeeze_copy_dims(this: &Tensor, dim: &[i64]) -> Result<Tensor> {
    alias_copy(&crate::squeeze_dims(this, dim)?)
}

/// Copies the result of [`unsqueeze`] to new memory.
#[op_def("unsqueeze_copy(Tensor self, int dim) -> Tensor", out = "out")]
pub fn unsqueeze_copy(this: &Tensor, dim: i64) -> Result<Tensor> {
    alias_copy(&crate::unsqueeze(this, dim)?)
}

/// Copies the result of [`diagonal`] to new memory.
#[op_def("diagonal_copy(Tensor self, int offset=0, int dim1=0, int dim2=1) -> Tensor", out = "out")]
pub fn diagonal_copy(this: &Tensor, offset: i64, dim1: i64, dim2: i64) -> Result<Tensor> {
    alias_copy(&crate::diagonal(this, offset, dim1, dim2)?)
}

/// Copies the result of [`unfold`] to new memory.
#[op_def("unfold_copy(Tensor self, int dimension, int size, int step) -> Tensor", out = "out")]
pub fn unfold_copy(this: &Tensor, dimension: i64, size: i64, step: i64) -> Result<Tensor> {
    alias_copy(&crate::unfold(this, dimension, size, step)?)
}

/// Copies the result of [`narrow`] to new memory.
#[op_def("narrow_copy(Tensor self, int dim, SymInt start, SymInt length) -> Tensor", out = "out")]
pub fn narrow_copy(this: &Tensor, dim: i64, start: i64, length: i64) -> Result<Tensor> {
    alias_copy(&crate::narrow(this, dim, start, length)?)
}

/// Copies the result of [`view_as_real`](crate::view_as_real) to new memory.
#[op_def("view_as_real_copy(Tensor self) -> Tensor", out = "out")]
pub fn view_as_real_copy(this: &Tensor) -> Result<Tensor> {
    alias_copy(&crate::view_as_real(this)?)
}

/// Copies the result of [`view_as_complex`](crate::view_as_complex) to new memory.
#[op_def("view_as_complex_copy(Tensor self) -> Tensor", out = "out")]
pub fn view_as_complex_copy(this: &Tensor) -> Result<Tensor> {
    alias_copy(&crate::view_as_complex(this)?)
}

/// Copies the result of [`_conj`](crate::_conj) to new memory.
#[op_def("_conj_copy(Tensor self) -> Tensor", out = "out")]
pub fn _conj_copy(this: &Tensor) -> Result<Tensor> {
    alias_copy(&crate::_conj(this)?)
}

/// Copies the result of [`_neg_view`](crate::_neg_view) to new memory.
#[op_def("_neg_view_copy(Tensor self) -> Tensor", out = "out")]
pub fn _neg_view_copy(this: &Tensor) -> Result<Tensor> {
    alias_copy(&crate::_neg_view(this)?)
}

/// Copies the result of [`lift_fresh`](crate::lift_fresh) to new memory.
#[op_def("lift_fresh_copy(Tensor self) -> Tensor", out = "out")]
pub fn lift_fresh_copy(this: &Tensor) -> Result<Tensor> {
    alias_copy(&crate::lift_fresh(this)?)
}

/// Copies each result of [`unbind_int`] to new memory.
#[op_def("unbind_copy.int(Tensor self, int dim=0) -> Tensor[]", out = "int_out")]
pub fn unbind_copy_int(this: &Tensor, dim: i64) -> Result<Vec<Tensor>> {
    crate::unbind_int(this, dim)?.iter().map(alias_copy).collect()
}

/// Copies each result of [`split`] to new memory.
#[op_def("split_copy.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[]", out = "Tensor_out")]
pub fn split_copy(this: &Tensor, split_size: i64, dim: i64) -> Result<Vec<Tensor>> {
    crate::split(this, split_size, dim)?.iter().map(alias_copy).collect()
}

/// Copies each result of [`split_with_sizes`] to new memory.
#[op_def("split_with_sizes_copy(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[]", out = "out")]
pub fn split_with_sizes_copy(this: &Tensor, split_sizes: &[i64], dim: i64) -> Result<Vec<Tensor>> {
    crate::split_with_sizes(this, split_sizes, dim)?.iter().map(alias_copy).collect()
}

/// Copies the result of [`reshape`] to new memory.
#[op_def("_reshape_copy(Tensor self, SymInt[] size) -> Tensor")]
pub fn _reshape_copy(this: &Tensor, size: &[i64]) -> Result<Tensor> {
    alias_copy(&crate::reshape(this, size)?)
}

/// Copies the result of [`_reshape_alias`] to new memory.
#[op_def("_reshape_alias_copy(Tensor self, SymInt[] size, SymInt[] stride) -> Tensor", out = "out")]
pub fn _reshape_alias_copy(this: &Tensor, size: &[i64], stride: &[i64]) -> Result<Tensor> {
    alias_copy(&crate::_reshape_alias(this, size, stride)?)
}
