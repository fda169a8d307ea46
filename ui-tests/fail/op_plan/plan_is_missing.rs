use dispatch_runtime::prelude::*;

#[op_def("alone(Tensor self) -> Tensor", plan)]
pub fn alone(this: &Tensor) -> Result<Tensor>;

fn main() {}
