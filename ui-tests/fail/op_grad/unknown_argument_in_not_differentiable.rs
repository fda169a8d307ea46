use dispatch_autograd::op_grad;
use dispatch_runtime::prelude::*;

#[op_grad(myops::mymul, not_differentiable(othr))]
fn mul(grad: &Tensor, other: &Tensor) -> Result<(Tensor, Tensor)> {
    Ok(((grad * other)?, grad.clone()))
}

fn main() {}
