use dispatch_autograd::op_grad;
use dispatch_runtime::prelude::*;

#[op_def("halves(Tensor self) -> (Tensor low, Tensor high)")]
fn halves(this: &Tensor) -> Result<(Tensor, Tensor)>;

#[op_grad(halves, not_differentiable(high))]
fn halves_grad(grad_low: &Tensor, grad_high: &Tensor) -> Result<Tensor> {
    grad_low + grad_high
}

fn main() {}
