use dispatch_runtime::prelude::*;

#[op_def("f(Tensor self, int _=1) -> Tensor")]
pub fn f(this: &Tensor, _: i64) -> Result<Tensor>;

fn main() {}
