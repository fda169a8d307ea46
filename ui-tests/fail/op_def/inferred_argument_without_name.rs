use dispatch_runtime::prelude::*;

#[op_def]
pub fn f(_: &Tensor) -> Result<Tensor>;

fn main() {}
