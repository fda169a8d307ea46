//! An operator that PyTorch does not have, and its kernel for the CPU.
#![forbid(unsafe_code)]

use opdispatch::prelude::*;

/// Computes `self / (1 + |self|)`.
#[op_def("squash(Tensor self) -> Tensor", shape = pointwise)]
pub fn squash(this: &Tensor) -> Result<Tensor>;

#[op_impl(squash, CPU, dtypes(floating))]
fn squash_cpu<T: Floating>(this: &Tensor) -> Result<Tensor> {
    let squash = |x: T| x / (T::ONE + if x < T::ZERO { -x } else { x });
    Ok(Tensor::from_vec(this.to_vec::<T>()?.into_iter().map(squash).collect(), this.sizes())?)
}
