use dispatch_runtime::prelude::*;

#[op_def((Tensor self) -> Tensor)]
pub fn f(this: &Tensor) -> Result<Tensor>;

fn main() {}
