use dispatch_runtime::prelude::*;

#[op_def("sum.dim(Tensor self, int dim) -> Tensor")]
pub fn sum(this: &Tensor, dim: i64) -> Result<Tensor>;

fn main() {}
