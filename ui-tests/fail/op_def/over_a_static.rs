use dispatch_runtime::prelude::*;

#[op_def("f(Tensor self) -> Tensor")]
static F: i32 = 1;

fn main() {}
