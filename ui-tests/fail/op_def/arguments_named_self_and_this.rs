use dispatch_runtime::prelude::*;

#[op_def("f(Tensor self, Tensor this) -> Tensor")]
pub fn f(this: &Tensor, other: &Tensor) -> Result<Tensor>;

fn main() {}
