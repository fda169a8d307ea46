use dispatch_runtime::prelude::*;

#[op_def("f(Tensor self, Tensor? weight) -> Tensor")]
pub fn f(this: &Tensor, weight: &Tensor) -> Result<Tensor>;

fn main() {}
