use dispatch_runtime::prelude::*;

#[op_def(f(Tensor x, int super) -> Tensor)]
pub fn f(x: &Tensor, parent: i64) -> Result<Tensor>;

fn main() {}
