use dispatch_runtime::prelude::*;

#[op_def("f(Tensor self) -> Tensor")]
pub fn f(this: &impl AsRef<Tensor>) -> Result<Tensor>;

fn main() {}
