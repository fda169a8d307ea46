use dispatch_runtime::op_row;
use dispatch_runtime::prelude::*;

#[op_def("twice(Tensor self) -> Tensor", shape = pointwise)]
pub fn twice(this: &Tensor) -> Result<Tensor>;

op_row! { twice, "2 * x" }

fn main() {}
