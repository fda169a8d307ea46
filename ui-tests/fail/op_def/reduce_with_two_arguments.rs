use dispatch_runtime::prelude::*;

#[op_def("myop(Tensor self, int a, int b) -> Tensor", shape = reduce(a, b))]
fn myop(this: &Tensor, a: i64, b: i64) -> Result<Tensor>;

fn main() {}
