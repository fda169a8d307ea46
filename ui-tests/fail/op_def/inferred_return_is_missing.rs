use dispatch_runtime::prelude::*;

#[op_def]
pub fn f(this: &Tensor);

fn main() {}
