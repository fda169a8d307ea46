use dispatch_runtime::prelude::*;

#[op_def("myop(int n) -> Tensor", inplace)]
fn myop(n: i64) -> Result<Tensor>;

fn main() {}
