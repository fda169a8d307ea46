use dispatch_runtime::prelude::*;

#[op_def("f(Tensor self, int[2] size) -> Tensor")]
pub fn f(this: &Tensor, size: [i64; 2]) -> Result<Tensor>;

fn main() {}
