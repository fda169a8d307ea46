use dispatch_runtime::prelude::*;

#[op_def("f(Tensor[] tensors) -> Tensor")]
pub fn f(tensors: Vec<Tensor>) -> Result<Tensor>;

fn main() {}
