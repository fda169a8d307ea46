use dispatch_runtime::prelude::*;

#[op_def("ns:f(Tensor self) -> Tensor")]
pub fn f(this: &Tensor) -> Result<Tensor>;

fn main() {}
