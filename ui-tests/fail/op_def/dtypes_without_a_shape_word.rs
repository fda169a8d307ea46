use dispatch_runtime::prelude::*;

#[op_def("twice(Tensor self) -> Tensor", dtypes(floating))]
pub fn twice(this: &Tensor) -> Result<Tensor>;

fn main() {}
