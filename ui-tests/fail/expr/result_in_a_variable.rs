use dispatch_runtime::prelude::*;

fn doubled(a: &Tensor) -> Result<Tensor> {
    let b = a * 2.0;
    expr!(a + b)
}

fn main() {}
