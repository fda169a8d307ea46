//! Conjugate and real part for gradient formulas. They call no operator if the tensor is real.

use dispatch_runtime::{Result, Tensor};

/// Returns the complex conjugate of a tensor. A real tensor is returned unchanged.
pub(crate) fn conj(tensor: &Tensor) -> Result<Tensor> {
    if tensor.dtype().is_complex() { aten::conj_physical(tensor) } else { Ok(tensor.clone()) }
}

/// Returns the real part of a tensor.
pub(crate) fn real(tensor: &Tensor) -> Result<Tensor> {
    if tensor.dtype().is_complex() { aten::real(tensor) } else { Ok(tensor.clone()) }
}
