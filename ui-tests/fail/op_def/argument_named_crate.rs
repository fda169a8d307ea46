use dispatch_runtime::prelude::*;

#[op_def("f(Tensor crate) -> Tensor")]
pub fn f(krate: &Tensor) -> Result<Tensor>;

fn main() {}
