use dispatch_runtime::prelude::*;

#[op_def("add(Tensor self, Tensor other) -> Tensor")]
pub fn add(this: &Tensor, other: &Tensor) -> Tensor;

fn main() {}
