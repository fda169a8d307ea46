use dispatch_runtime::prelude::*;

#[op_def("myop(Tensor self, Tensor other) -> Tensor", shape = "m2,2n->mn")]
fn myop(this: &Tensor, other: &Tensor) -> Result<Tensor>;

fn main() {}
