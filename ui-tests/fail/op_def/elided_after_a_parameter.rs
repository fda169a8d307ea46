use dispatch_runtime::prelude::*;

#[op_def("twice(Tensor self, int times) -> Tensor")]
pub fn twice(this: &Tensor, _: ...) -> Result<Tensor>;

fn main() {}
