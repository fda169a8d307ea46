use dispatch_runtime::prelude::*;

#[op_def("twice(Tensor self) -> Tensor")]
pub fn twice(_: ...) -> Result<i64>;

fn main() {}
