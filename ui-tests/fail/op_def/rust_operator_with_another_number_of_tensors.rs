use dispatch_runtime::prelude::*;

#[op_def("add(Tensor self, Tensor other) -> Tensor", operator = Neg)]
pub fn add(this: &Tensor, other: &Tensor) -> Result<Tensor>;

fn main() {}
