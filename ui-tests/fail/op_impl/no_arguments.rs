use dispatch_runtime::prelude::*;

#[op_impl(myops::mymul, CPU)]
fn mul() -> Result<Tensor> {
    todo!()
}

fn main() {}
