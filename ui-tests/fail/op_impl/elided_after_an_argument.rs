use dispatch_runtime::prelude::*;

#[op_impl(myops::mymul, CPU)]
fn mymul(this: &Tensor, _: ...) -> Result<Tensor> {
    Ok(this.clone())
}

fn main() {}
