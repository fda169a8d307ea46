use dispatch_runtime::prelude::*;

#[op_impl(myops::square, CPU)]
async fn square(this: &Tensor) -> Result<Tensor> {
    let _ = this;
    todo!()
}

fn main() {}
