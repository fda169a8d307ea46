use dispatch_runtime::prelude::*;

#[op_def("twice(Tensor self) -> Tensor", body = CompositeExplicitAutograd)]
pub fn twice(this: &Tensor) -> Result<Tensor>;

fn main() {}
