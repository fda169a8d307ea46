use dispatch_runtime::prelude::*;

#[op_def("myop(Tensor self) -> Tensor", dtype = float)]
fn myop(this: &Tensor) -> Result<Tensor>;

fn main() {}
