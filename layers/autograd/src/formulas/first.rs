//! The first ones.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use crate::{Outline, op_grad};

#[op_grad(aten::view)]
fn view(grad: &Tensor, this: &Outline) -> Result<Tensor> {
    grad.reshape(this.sizes())
}

#[op_grad(aten::copy_, not_differentiable(this))]
fn copy_(grad: &Tensor) -> Result<Tensor> {
    Ok(grad.clone())
}
