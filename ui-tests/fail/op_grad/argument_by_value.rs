use dispatch_autograd::op_grad;
use dispatch_runtime::prelude::*;

#[op_grad(myops::mymul)]
fn mul(grad: &Tensor, this: Tensor, other: &Tensor) -> Result<(Tensor, Tensor)> {
    Ok(((grad * other)?, (grad * &this)?))
}

fn main() {}
