//! An operator crate: it says what there is, and brings no kernel of its own.
#![forbid(unsafe_code)]

use dispatch_runtime::prelude::*;

/// Multiplies two tensors elementwise.
#[op_def("mymul(Tensor self, Tensor other) -> Tensor")]
pub fn mymul(this: &Tensor, other: &Tensor) -> Result<Tensor>;

/// Multiplies a tensor by a number, in place.
#[op_def("scale_(Tensor(a!) self, Scalar by) -> Tensor(a!)")]
pub fn scale_(this: &mut Tensor, by: Scalar) -> Result<()>;

/// A composite: no backend needs to know it.
#[op_def("square(Tensor self) -> Tensor")]
pub fn square(this: &Tensor) -> Result<Tensor> {
    mymul(this, this)
}
