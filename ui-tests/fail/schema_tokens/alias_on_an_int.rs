use dispatch_runtime::prelude::*;

#[op_def(f(int(a!) n) -> int)]
pub fn f(n: i64) -> Result<i64>;

fn main() {}
