use dispatch_runtime::prelude::*;

#[op_def("f(Tensor self) -> Tensor(a!)")]
pub fn f(this: &Tensor) -> Result<Tensor>;

fn main() {}
