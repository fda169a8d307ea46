use dispatch_runtime::prelude::*;

#[op_def("crate(Tensor self) -> Tensor")]
pub fn crate_(this: &Tensor) -> Result<Tensor>;

fn main() {}
