use dispatch_runtime::prelude::*;

#[op_impl(myops::square, CPU)]
fn square(this: &Tensor) -> Result<Tensor> ;

fn main() {}
