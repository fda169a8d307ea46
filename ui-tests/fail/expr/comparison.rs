use dispatch_runtime::prelude::*;

fn smaller(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    expr!(a * 2.0 < b)
}

fn main() {}
