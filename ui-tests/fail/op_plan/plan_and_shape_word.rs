use dispatch_runtime::prelude::*;

#[op_def("both(Tensor self) -> Tensor", shape = pointwise, plan)]
pub fn both(this: &Tensor) -> Result<Tensor>;

fn main() {}
