use dispatch_autograd::op_grad;
use dispatch_runtime::prelude::*;

#[op_def("halves(Tensor self) -> (Tensor low, Tensor high)")]
fn halves(this: &Tensor) -> Result<(Tensor, Tensor)>;

#[op_grad(halves)]
fn halves_grad(grad_low: &Tensor) -> Result<Tensor> {
    Ok(grad_low.clone())
}

fn main() {}
