use dispatch_runtime::prelude::*;

#[op_def("f(Tensor(a! self) -> Tensor")]
pub fn f(this: &mut Tensor) -> Result<Tensor>;

fn main() {}
