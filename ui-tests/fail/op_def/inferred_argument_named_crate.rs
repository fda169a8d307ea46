use dispatch_runtime::prelude::*;

#[op_def]
pub fn f(_crate: &Tensor) -> Result<Tensor>;

fn main() {}
