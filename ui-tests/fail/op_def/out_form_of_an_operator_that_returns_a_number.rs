use dispatch_runtime::prelude::*;

#[op_def("myop(Tensor self) -> int", out = "out")]
fn myop(this: &Tensor) -> Result<i64>;

fn main() {}
