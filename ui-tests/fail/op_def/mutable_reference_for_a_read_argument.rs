use dispatch_runtime::prelude::*;

#[op_def("add(Tensor self, Tensor other) -> Tensor")]
pub fn add(this: &mut Tensor, other: &Tensor) -> Result<Tensor>;

fn main() {}
