use dispatch_runtime::prelude::*;

fn scaled(a: &Tensor, factor: &str) -> Result<Tensor> {
    expr!(a + factor * 2.0)
}

fn main() {}
