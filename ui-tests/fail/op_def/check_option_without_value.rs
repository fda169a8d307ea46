use dispatch_runtime::prelude::*;

#[op_def("twice(Tensor self) -> Tensor", shape = pointwise, check)]
pub fn twice(this: &Tensor) -> Result<Tensor>;

fn main() {}
