use dispatch_autograd::op_grad;
use dispatch_runtime::prelude::*;

#[op_grad(myops::mymull)]
fn mul(grad: &Tensor, this: &Tensor, other: &Tensor) -> Result<(Tensor, Tensor)> {
    Ok(((grad * other)?, (grad * this)?))
}

fn main() {}
