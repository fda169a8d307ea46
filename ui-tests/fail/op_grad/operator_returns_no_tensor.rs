use dispatch_autograd::op_grad;
use dispatch_runtime::prelude::*;

#[op_def("count(Tensor self) -> int")]
fn count(this: &Tensor) -> Result<i64>;

#[op_grad(count)]
fn count_grad(grad: &Tensor) -> Result<Tensor> {
    Ok(grad.clone())
}

fn main() {}
