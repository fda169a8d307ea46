use dispatch_autograd::op_grad;
use dispatch_runtime::prelude::*;

#[op_grad(myops::mymul)]
fn mul(this: &Tensor, other: &Tensor) -> Result<(Tensor, Tensor)> {
    Ok((other.clone(), this.clone()))
}

fn main() {}
