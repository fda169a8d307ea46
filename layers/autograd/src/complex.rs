//! What gradients of complex numbers need besides.

use dispatch_runtime::{Error, Result, Tensor};

/// The complex conjugate; a real tensor is its own.
pub(crate) fn conj(tensor: &Tensor) -> Result<Tensor> {
    if tensor.dtype().is_complex() {
        Err(Error::kernel("gradients of complex tensors are not there yet"))
    } else {
        Ok(tensor.clone())
    }
}

/// The real part.
pub(crate) fn real(tensor: &Tensor) -> Result<Tensor> {
    if tensor.dtype().is_complex() {
        Err(Error::kernel("gradients of complex tensors are not there yet"))
    } else {
        Ok(tensor.clone())
    }
}
