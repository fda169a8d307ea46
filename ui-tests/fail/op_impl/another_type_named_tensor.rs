use dispatch_runtime::prelude::*;

mod other {
    pub struct Tensor;
}

#[op_impl(myops::square, CPU)]
fn square(this: &other::Tensor) -> Result<Tensor> {
    let _ = this;
    todo!()
}

fn main() {}
