use dispatch_runtime::prelude::*;

fn three(a: f64) -> Result<Tensor> {
    expr!(a + 2.0)
}

fn main() {}
