use dispatch_runtime::prelude::*;

fn scaled(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    expr!(
        a * b
            + 2.0 * b
            + "2.0"
            - a
    )
}

fn main() {}
