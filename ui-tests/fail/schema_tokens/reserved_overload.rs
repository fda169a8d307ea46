use dispatch_runtime::prelude::*;

#[op_def(f.default(Tensor self) -> Tensor)]
pub fn f(this: &Tensor) -> Result<Tensor>;

fn main() {}
