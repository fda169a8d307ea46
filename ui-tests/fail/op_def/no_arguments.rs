use dispatch_runtime::prelude::*;

#[op_def("add(Tensor self, Tensor other) -> Tensor")]
pub fn add() -> Result<Tensor>;

fn main() {}
