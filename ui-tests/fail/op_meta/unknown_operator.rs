use dispatch_runtime::prelude::*;

#[op_meta(rmsnorm)]
fn meta(this: &Tensor) -> Result<Tensor> {
    Ok(this.clone())
}

fn main() {}
