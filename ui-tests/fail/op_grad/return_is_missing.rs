use dispatch_autograd::op_grad;
use dispatch_runtime::prelude::*;

#[op_grad(myops::mymul)]
fn mul(grad: &Tensor) {
    let _ = grad;
}

fn main() {}
