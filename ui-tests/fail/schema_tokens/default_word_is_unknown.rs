use dispatch_runtime::prelude::*;

#[op_def(f(Tensor self, bool on=yes) -> Tensor)]
pub fn f(this: &Tensor, on: bool) -> Result<Tensor>;

fn main() {}
