use dispatch_runtime::prelude::*;

#[op_def("abs(Tensor self) -> Tensor", inplace)]
fn abs(this: &Tensor) -> Result<Tensor>;

#[op_def("all_abs(Tensor[] self) -> Tensor[]", each = abs(this), out = "out")]
fn all_abs(this: &[Tensor]) -> Result<Vec<Tensor>>;

fn main() {}
