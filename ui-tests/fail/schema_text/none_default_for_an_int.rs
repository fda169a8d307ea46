use dispatch_runtime::prelude::*;

#[op_def("f(Tensor self, int n=None) -> Tensor")]
pub fn f(this: &Tensor, n: i64) -> Result<Tensor>;

fn main() {}
