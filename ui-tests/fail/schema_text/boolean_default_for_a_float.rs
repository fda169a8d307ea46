use dispatch_runtime::prelude::*;

#[op_def("f(Tensor self, float eps=true) -> Tensor")]
pub fn f(this: &Tensor, eps: f64) -> Result<Tensor>;

fn main() {}
