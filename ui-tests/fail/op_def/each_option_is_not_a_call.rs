use dispatch_runtime::prelude::*;

#[op_def("all_abs(Tensor[] self) -> Tensor[]", each = abs)]
fn all_abs(this: &[Tensor]) -> Result<Vec<Tensor>>;

fn main() {}
