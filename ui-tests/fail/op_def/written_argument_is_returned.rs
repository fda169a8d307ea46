use dispatch_runtime::prelude::*;

#[op_def("relu_(Tensor(a!) self) -> Tensor(a!)")]
pub fn relu_(this: &mut Tensor) -> Result<Tensor>;

fn main() {}
