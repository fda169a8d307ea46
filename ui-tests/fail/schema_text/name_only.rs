use dispatch_runtime::prelude::*;

#[op_def("f")]
pub fn f(this: &Tensor) -> Result<Tensor>;

fn main() {}
