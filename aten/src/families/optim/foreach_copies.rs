//! Copies, products and reductions of each tensor of a list.

use dispatch_runtime::prelude::*;

use crate::{clone, copy, copy_, linalg__powsum, linalg_vector_norm, max, mm, zero};

/// A copy of each tensor
#[op_def("_foreach_clone(Tensor[] self, *, MemoryFormat? memory_format=None) -> Tensor[]", each = clone(this, memory_format), out = "out")]
pub fn _foreach_clone(_: ...) -> Result<Vec<Tensor>>;

/// The elements of `src` with the sizes and dtype of `self`, for each pair of tensors
#[op_def("_foreach_copy(Tensor[] self, Tensor[] src, bool non_blocking=False) -> Tensor[] self_out", each = copy(this, src, non_blocking), out = "out"(out))]
pub fn _foreach_copy(_: ...) -> Result<Vec<Tensor>>;

/// Copies the elements of `src` to `self`, for each pair of tensors.
#[op_def("_foreach_copy_(Tensor(a!)[] self, Tensor[] src, bool non_blocking=False) -> ()", each = copy_(this, src, non_blocking))]
pub fn _foreach_copy_(_: ...) -> Result<()>;

/// Zeros in the sizes and dtype of each tensor
#[op_def("_foreach_zero(Tensor[] self) -> Tensor[] self_out", each = zero(this), inplace, out = "out"(out))]
pub fn _foreach_zero(_: ...) -> Result<Vec<Tensor>>;

/// The matrix product of each pair of matrices
#[op_def("_foreach_mm(Tensor[] self, Tensor[] mat2) -> Tensor[]", each = mm(this, mat2))]
pub fn _foreach_mm(_: ...) -> Result<Vec<Tensor>>;

/// The largest element of each tensor
#[op_def("_foreach_max(Tensor[] self) -> Tensor[]", each = max(this), out = "out")]
pub fn _foreach_max(_: ...) -> Result<Vec<Tensor>>;

/// The norm of each tensor as a vector: `sum(|self|^ord)^(1/ord)`, or its limit
#[op_def("_foreach_norm.Scalar(Tensor[] self, Scalar ord=2, ScalarType? dtype=None) -> Tensor[]", each = linalg_vector_norm(this, ord, None, false, dtype), out = "Scalar_out")]
pub fn _foreach_norm_scalar(_: ...) -> Result<Vec<Tensor>>;

/// `sum(|self|^ord)` of each tensor
#[op_def("_foreach_powsum.Scalar(Tensor[] self, Scalar ord=2, ScalarType? dtype=None) -> Tensor[]", each = linalg__powsum(this, ord, None, false, dtype), out = "Scalar_out")]
pub fn _foreach_powsum_scalar(_: ...) -> Result<Vec<Tensor>>;
