use dispatch_runtime::prelude::*;

#[op_def]
pub fn f(__: &Tensor) -> Result<Tensor>;

fn main() {}
