use dispatch_runtime::prelude::*;

#[op_def]
pub fn größe(this: &Tensor) -> Result<Tensor>;

fn main() {}
