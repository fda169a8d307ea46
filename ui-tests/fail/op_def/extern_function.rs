use dispatch_runtime::prelude::*;

#[op_def("add(Tensor self, Tensor other) -> Tensor")]
pub extern "C" fn add(this: &Tensor, other: &Tensor) -> Result<Tensor>;

fn main() {}
