use dispatch_runtime::prelude::*;

fn both(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    expr!(a && b)
}

fn main() {}
