use dispatch_runtime::prelude::*;

#[op_def(f(Tensor self, int if) -> Tensor)]
pub fn f(this: &Tensor, r#if: i64) -> Result<Tensor>;

fn main() {}
