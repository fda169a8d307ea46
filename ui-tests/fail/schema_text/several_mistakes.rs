use dispatch_runtime::prelude::*;

#[op_def("f(Tensro self, int n=x, bol on) -> Tensor")]
pub fn f(this: &Tensor, n: i64, on: bool) -> Result<Tensor>;

fn main() {}
