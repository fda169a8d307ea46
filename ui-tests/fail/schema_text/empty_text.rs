use dispatch_runtime::prelude::*;

#[op_def("")]
pub fn f(this: &Tensor) -> Result<Tensor>;

fn main() {}
