use dispatch_runtime::prelude::*;

#[op_def("f(Tensor a, Tensor a) -> Tensor")]
pub fn f(a: &Tensor, b: &Tensor) -> Result<Tensor>;

fn main() {}
