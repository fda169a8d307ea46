use dispatch_runtime::prelude::*;

#[op_def("halve(Tensor self) -> (Tensor, Tensor)")]
pub fn halve(this: &Tensor) -> Result<Tensor>;

fn main() {}
