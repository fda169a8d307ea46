use dispatch_runtime::prelude::*;

#[op_impl(myops::weighted, CPU)]
fn weighted(this: &Tensor, weight: &Tensor) -> Result<Tensor> {
    let _ = (this, weight);
    todo!()
}

fn main() {}
