//! An operator that PyTorch does not have, and its kernel for the CPU.
#![forbid(unsafe_code)]

use opdispatch::backend::cpu::{self, Float, Real};
use opdispatch::prelude::*;

/// Computes `self / (1 + |self|)`.
#[op_def("squash(Tensor self) -> Tensor", shape = pointwise)]
pub fn squash(this: &Tensor) -> Result<Tensor>;

#[op_impl(squash, CPU, dtypes(floating))]
fn squash_cpu<T: Float>(this: &Tensor) -> Result<Tensor> {
    cpu::map([this], |[x]: [T::Compute; 1]| x / (T::Compute::ONE + x.abs()))
}
