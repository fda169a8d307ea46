use dispatch_runtime::prelude::*;

#[op_def(f(Tensro self) -> Tensor)]
pub fn f(this: &Tensor) -> Result<Tensor>;

fn main() {}
