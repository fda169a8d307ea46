use dispatch_runtime::prelude::*;

fn same(a: &Tensor) -> Result<Tensor> {
    expr!(a)
}

fn main() {}
