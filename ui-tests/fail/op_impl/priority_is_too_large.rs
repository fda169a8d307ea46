use dispatch_runtime::prelude::*;

#[op_impl(myops::mymul, CPU, when(true), priority = 3000000000)]
fn mul(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    let _ = (this, other);
    todo!()
}

fn main() {}
