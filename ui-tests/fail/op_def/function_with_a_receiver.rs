use dispatch_runtime::prelude::*;

#[op_def("f(Tensor self) -> Tensor")]
pub fn f(&self) -> Result<Tensor>;

fn main() {}
