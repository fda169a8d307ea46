use dispatch_runtime::prelude::*;

#[op_def("myop(Tensor self) -> Tensor", shape = pointwise, shape = reduce)]
fn myop(this: &Tensor) -> Result<Tensor>;

fn main() {}
