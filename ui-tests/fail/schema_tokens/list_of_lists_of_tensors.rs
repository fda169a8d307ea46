use dispatch_runtime::prelude::*;

#[op_def(f(Tensor self, Tensor[][] rest) -> Tensor)]
pub fn f(this: &Tensor, rest: &[Tensor]) -> Result<Tensor>;

fn main() {}
