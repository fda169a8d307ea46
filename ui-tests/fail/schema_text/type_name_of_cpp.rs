use dispatch_runtime::prelude::*;

#[op_def("f(int64_t dim, Tensor self) -> Tensor")]
pub fn f(dim: i64, this: &Tensor) -> Result<Tensor>;

fn main() {}
