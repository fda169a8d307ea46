use dispatch_runtime::prelude::*;

fn sizes_plus_one(a: &Tensor) -> Result<Tensor> {
    expr!(a + a.sizes())
}

fn main() {}
