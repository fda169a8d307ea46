//! What a tensor says about itself: sizes, strides and layout.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, MemoryFormat, Problem, wrap_dim};

/// How many elements there are.
#[op_def("numel(Tensor self) -> int")]
pub fn numel(this: &Tensor) -> Result<i64> {
    Ok(this.geometry().count())
}

/// One of the numbers that there is for each dimension.
fn of_dim(this: &Tensor, numbers: &[i64], dim: i64) -> Result<i64> {
    let rank = this.sizes().len();
    let at = wrap_dim("dim", dim, rank)?;
    numbers.get(at).copied().ok_or_else(|| BadArgument::new("dim", Problem::Dim { dim, rank }).into())
}

/// How many positions a dimension has.
#[op_def("size.int(Tensor self, int dim) -> int")]
pub fn size_int(this: &Tensor, dim: i64) -> Result<i64> {
    of_dim(this, this.sizes(), dim)
}

/// How many positions each dimension has.
#[op_def("size(Tensor self) -> int[]")]
pub fn size(this: &Tensor) -> Result<Vec<i64>> {
    Ok(this.sizes().to_vec())
}

/// How far apart neighbours are in a dimension.
#[op_def("stride.int(Tensor self, int dim) -> int")]
pub fn stride_int(this: &Tensor, dim: i64) -> Result<i64> {
    of_dim(this, this.strides(), dim)
}

/// How far apart neighbours are in each dimension.
#[op_def("stride(Tensor self) -> int[]")]
pub fn stride(this: &Tensor) -> Result<Vec<i64>> {
    Ok(this.strides().to_vec())
}

/// [`size_int`], of sizes that may be symbols elsewhere.
#[op_def("sym_size.int(Tensor self, int dim) -> SymInt")]
pub fn sym_size_int(this: &Tensor, dim: i64) -> Result<i64> {
    of_dim(this, this.sizes(), dim)
}

/// [`size`], of sizes that may be symbols elsewhere.
#[op_def("sym_size(Tensor self) -> SymInt[]")]
pub fn sym_size(this: &Tensor) -> Result<Vec<i64>> {
    Ok(this.sizes().to_vec())
}

/// How many elements there are.
#[op_def("sym_numel(Tensor self) -> SymInt")]
pub fn sym_numel(this: &Tensor) -> Result<i64> {
    Ok(this.geometry().count())
}

/// [`stride_int`], of strides that may be symbols elsewhere.
#[op_def("sym_stride.int(Tensor self, int dim) -> SymInt")]
pub fn sym_stride_int(this: &Tensor, dim: i64) -> Result<i64> {
    of_dim(this, this.strides(), dim)
}

/// [`stride`], of strides that may be symbols elsewhere.
#[op_def("sym_stride(Tensor self) -> SymInt[]")]
pub fn sym_stride(this: &Tensor) -> Result<Vec<i64>> {
    Ok(this.strides().to_vec())
}

/// Where in its storage the tensor begins.
#[op_def("sym_storage_offset(Tensor self) -> SymInt")]
pub fn sym_storage_offset(this: &Tensor) -> Result<i64> {
    Ok(this.geometry().offset())
}

/// How many dimensions there are.
#[op_def("dim(Tensor self) -> int")]
pub fn dim(this: &Tensor) -> Result<i64> {
    Ok(i64::try_from(this.sizes().len()).unwrap_or(i64::MAX))
}

/// How many bytes an element has.
#[op_def("element_size(Tensor self) -> int")]
pub fn element_size(this: &Tensor) -> Result<i64> {
    Ok(i64::try_from(this.dtype().size()).unwrap_or(i64::MAX))
}

/// Where in its storage the tensor begins.
#[op_def("storage_offset(Tensor self) -> int")]
pub fn storage_offset(this: &Tensor) -> Result<i64> {
    Ok(this.geometry().offset())
}

/// Whether the elements lie side by side, in rows.
#[op_def("is_contiguous(Tensor self) -> bool")]
pub fn is_contiguous(this: &Tensor) -> Result<bool> {
    Ok(this.geometry().is_contiguous())
}

/// Whether the elements lie side by side, in this order.
#[op_def("is_contiguous.memory_format(Tensor self, MemoryFormat memory_format) -> bool")]
pub fn is_contiguous_memory_format(this: &Tensor, memory_format: MemoryFormat) -> Result<bool> {
    Ok(this.geometry().is_in_format(memory_format))
}

/// Whether two tensors have the same sizes.
#[op_def("is_same_size(Tensor self, Tensor other) -> bool")]
pub fn is_same_size(this: &Tensor, other: &Tensor) -> Result<bool> {
    Ok(this.sizes() == other.sizes())
}

/// Whether two tensors are the same elements, in the same order.
#[op_def("is_set_to(Tensor self, Tensor tensor) -> bool")]
pub fn is_set_to(this: &Tensor, tensor: &Tensor) -> Result<bool> {
    Ok(this.storage().same(tensor.storage()) && this.geometry() == tensor.geometry())
}
