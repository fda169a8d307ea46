use dispatch_runtime::prelude::*;

#[op_def]
pub fn f(this: &Tensor, table: &std::collections::HashMap<i64, i64>) -> Result<Tensor>;

fn main() {}
