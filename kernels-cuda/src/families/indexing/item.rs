//! CUDA kernel of `_local_scalar_dense`, which copies the only element of a tensor to the CPU.

use crate::engine::transfer::download;
use crate::prelude::*;

/// Returns the only element of a tensor. Waits for the device.
#[op_impl(aten::_local_scalar_dense, CUDA)]
fn local_scalar_dense(this: &Tensor) -> Result<Scalar> {
    let mut host = Spec::contiguous(this.dtype(), this.sizes()).on(Device::CPU)?;
    download(&mut host, this, false)?;
    aten::_local_scalar_dense(&host)
}
