use dispatch_runtime::prelude::*;

#[op_def("f(Tensor self) -> Tensor")]
pub struct Relu;

fn main() {}
