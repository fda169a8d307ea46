use dispatch_autograd::functional::vjp;
use dispatch_runtime::prelude::*;

fn gradient(x: &Tensor) -> Result<Tensor> {
    let (_, pullback) = vjp(|x| x * 2.0, x)?;
    pullback.call((x, x))
}

fn main() {}
