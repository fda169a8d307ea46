use dispatch_runtime::prelude::*;

#[op_def("add(Tensor self, Tensor other) -> Tensor", operator = Add, operator = Sub)]
pub fn add(this: &Tensor, other: &Tensor) -> Result<Tensor>;

fn main() {}
