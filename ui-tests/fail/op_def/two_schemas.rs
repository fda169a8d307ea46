use dispatch_runtime::prelude::*;

#[op_def("add(Tensor self, Tensor other) -> Tensor", "add(Tensor self) -> Tensor")]
pub fn add(this: &Tensor, other: &Tensor) -> Result<Tensor>;

fn main() {}
