//! Complex numbers and their parts.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use crate::complex::conj;
use crate::op_grad;

#[op_grad(aten::conj_physical)]
fn conj_physical(grad: &Tensor) -> Result<Tensor> {
    conj(grad)
}

#[op_grad(aten::view_as_real)]
fn view_as_real(grad: &Tensor) -> Result<Tensor> {
    aten::view_as_complex(&grad.contiguous()?)
}

#[op_grad(aten::view_as_complex)]
fn view_as_complex(grad: &Tensor) -> Result<Tensor> {
    aten::view_as_real(grad)
}
