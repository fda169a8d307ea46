//! What a tensor says about itself.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Problem, wrap_dim};

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
