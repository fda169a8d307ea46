use dispatch_autograd::op_grad;
use dispatch_runtime::prelude::*;

#[op_grad(myops::mymul)]
fn mul(grad: &Tensor, this: &Tensor, othr: &Tensor) -> Result<(Tensor, Tensor)> {
    Ok(((grad * othr)?, (grad * this)?))
}

fn main() {}
