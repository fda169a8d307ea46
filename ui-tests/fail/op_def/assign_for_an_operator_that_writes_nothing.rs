use dispatch_runtime::prelude::*;

#[op_def("myop(Tensor self, Tensor other) -> Tensor", operator = Assign)]
fn myop(this: &Tensor, other: &Tensor) -> Result<Tensor>;

fn main() {}
