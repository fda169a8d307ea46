use dispatch_runtime::prelude::*;

#[op_impl(myops::square, CPU, when(true), priority =)]
fn square(this: &Tensor) -> Result<Tensor> {
    let _ = this;
    todo!()
}

fn main() {}
