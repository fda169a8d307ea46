use dispatch_runtime::prelude::*;

#[op_def("myop(Tensor self) -> Tensor", shape = pointwise, dtype = flot)]
fn myop(this: &Tensor) -> Result<Tensor>;

fn main() {}
