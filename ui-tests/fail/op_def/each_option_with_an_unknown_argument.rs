use dispatch_runtime::prelude::*;

#[op_def("abs(Tensor self) -> Tensor")]
fn abs(this: &Tensor) -> Result<Tensor>;

#[op_def("all_abs(Tensor[] self) -> Tensor[]", each = abs(other))]
fn all_abs(this: &[Tensor]) -> Result<Vec<Tensor>>;

fn main() {}
