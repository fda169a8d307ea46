use dispatch_autograd::op_grad;
use dispatch_runtime::prelude::*;

#[op_grad]
fn mul(grad: &Tensor) -> Result<Tensor> {
    Ok(grad.clone())
}

fn main() {}
