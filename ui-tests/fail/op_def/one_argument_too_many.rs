use dispatch_runtime::prelude::*;

#[op_def("add(Tensor self, Tensor other) -> Tensor")]
pub fn add(this: &Tensor, other: &Tensor, alpha: f64) -> Result<Tensor>;

fn main() {}
