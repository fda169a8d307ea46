use dispatch_runtime::prelude::*;

#[op_def("f(Tensor Self) -> Tensor")]
pub fn f(this: &Tensor) -> Result<Tensor>;

fn main() {}
