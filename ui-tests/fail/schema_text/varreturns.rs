use dispatch_runtime::prelude::*;

#[op_def("f(Tensor self) -> ...")]
pub fn f(this: &Tensor) -> Result<Tensor>;

fn main() {}
