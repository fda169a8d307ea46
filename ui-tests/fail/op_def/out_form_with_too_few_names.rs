use dispatch_runtime::prelude::*;

#[op_def("myop(Tensor self) -> (Tensor, Tensor)", out = "out"(one))]
fn myop(this: &Tensor) -> Result<(Tensor, Tensor)>;

fn main() {}
