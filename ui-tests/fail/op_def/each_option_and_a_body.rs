use dispatch_runtime::prelude::*;

#[op_def("all_abs(Tensor[] self) -> Tensor[]", each = abs(this))]
fn all_abs(this: &[Tensor]) -> Result<Vec<Tensor>> {
    Ok(this.to_vec())
}

fn main() {}
