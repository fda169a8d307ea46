use dispatch_runtime::prelude::*;

#[op_def("myop(Tensor self) -> Tensor", inplace = yes)]
fn myop(this: &Tensor) -> Result<Tensor>;

fn main() {}
