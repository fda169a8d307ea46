use dispatch_runtime::prelude::*;

fn add_to(mut a: Tensor, b: &Tensor) -> Result<Tensor> {
    expr!(a += b * 2.0)
}

fn main() {}
