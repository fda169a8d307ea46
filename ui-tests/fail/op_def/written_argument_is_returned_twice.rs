use dispatch_runtime::prelude::*;

#[op_def("w2(Tensor(a!) x) -> (Tensor(a!), Tensor(a!))")]
pub fn w2(x: &mut Tensor) -> Result<()>;

fn main() {}
