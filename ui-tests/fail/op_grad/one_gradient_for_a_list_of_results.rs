use dispatch_autograd::op_grad;
use dispatch_runtime::prelude::*;

#[op_def("parts(Tensor self) -> Tensor[]")]
fn parts(this: &Tensor) -> Result<Vec<Tensor>>;

#[op_grad(parts)]
fn parts_grad(grad: &Tensor) -> Result<Tensor> {
    Ok(grad.clone())
}

fn main() {}
