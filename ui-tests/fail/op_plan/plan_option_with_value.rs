use dispatch_runtime::prelude::*;

#[op_def("same(Tensor self) -> Tensor", plan = same_plan)]
pub fn same(this: &Tensor) -> Result<Tensor>;

fn main() {}
