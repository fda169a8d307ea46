use dispatch_runtime::prelude::*;

#[op_def("f(Tensor self, int dim) -> Tensor")]
pub fn f(this: &Tensor, dim: usize) -> Result<Tensor>;

fn main() {}
