use dispatch_runtime::prelude::*;

#[op_def(f(Tensor é) -> Tensor)]
pub fn f(é: &Tensor) -> Result<Tensor>;

fn main() {}
