use dispatch_runtime::prelude::*;

#[op_def]
pub fn f(this: &Tensor) -> Result<String>;

fn main() {}
