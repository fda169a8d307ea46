//! What gradients of complex numbers need besides: nothing where numbers are real, and no call either.

use dispatch_runtime::{Result, Tensor};

/// The complex conjugate; a real tensor is its own.
pub(crate) fn conj(tensor: &Tensor) -> Result<Tensor> {
    if tensor.dtype().is_complex() { aten::conj_physical(tensor) } else { Ok(tensor.clone()) }
}

/// The real part.
pub(crate) fn real(tensor: &Tensor) -> Result<Tensor> {
    if tensor.dtype().is_complex() { aten::real(tensor) } else { Ok(tensor.clone()) }
}
