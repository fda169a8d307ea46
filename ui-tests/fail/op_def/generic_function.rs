use dispatch_runtime::prelude::*;

#[op_def("f(Tensor self) -> Tensor")]
pub fn f<T>(this: &Tensor) -> Result<Tensor>;

fn main() {}
