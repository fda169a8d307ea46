use dispatch_runtime::prelude::*;

#[op_def("add(Tensor self, Tensor other) -> Tensor")]
pub fn add(other: &Tensor, this: &Tensor) -> Result<Tensor>;

fn main() {}
