//! Elementwise arithmetic of two operands.

use dispatch_runtime::prelude::*;

/// Copies the elements of `src`, converted and broadcast.
#[op_def("copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)", operator = Assign)]
pub fn copy_(this: &mut Tensor, src: &Tensor, non_blocking: bool) -> Result<()>;

/// `self + alpha * other`
#[op_def("add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", operator = Add, shape = pointwise(this, other), inplace, out = "out")]
pub fn add(this: &Tensor, other: &Tensor, alpha: Scalar) -> Result<Tensor>;
