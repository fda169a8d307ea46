//! The only element of a tensor.

use crate::engine::transfer::download;
use crate::prelude::*;

/// The only element of a tensor, once the device has it.
#[op_impl(aten::_local_scalar_dense, CUDA)]
fn local_scalar_dense(this: &Tensor) -> Result<Scalar> {
    let mut host = Spec::contiguous(this.dtype(), this.sizes()).on(Device::CPU)?;
    download(&mut host, this, false)?;
    aten::_local_scalar_dense(&host)
}
