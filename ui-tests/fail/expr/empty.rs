use dispatch_runtime::prelude::*;

fn nothing() -> Result<Tensor> {
    expr!()
}

fn main() {}
