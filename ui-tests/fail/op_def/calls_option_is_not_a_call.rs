use dispatch_runtime::prelude::*;

#[op_def("myop(Tensor self) -> Tensor", calls = "other")]
fn myop(this: &Tensor) -> Result<Tensor>;

fn main() {}
