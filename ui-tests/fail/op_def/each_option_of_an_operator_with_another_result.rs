use dispatch_runtime::prelude::*;

#[op_def("norm(Tensor self) -> Scalar")]
fn norm(this: &Tensor) -> Result<Scalar>;

#[op_def("norms(Tensor[] self) -> Tensor[]", each = norm(this))]
fn norms(this: &[Tensor]) -> Result<Vec<Tensor>>;

fn main() {}
