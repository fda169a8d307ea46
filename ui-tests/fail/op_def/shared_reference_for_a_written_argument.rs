use dispatch_runtime::prelude::*;

#[op_def("relu_(Tensor(a!) self) -> Tensor(a!)")]
pub fn relu_(this: &Tensor) -> Result<()>;

fn main() {}
