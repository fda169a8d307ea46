use dispatch_runtime::prelude::*;

#[op_impl(myops::mymul, CPU)]
fn mul(this: &Tensor, other: &Tensor, alpha: f64) -> Result<Tensor> {
    let _ = (this, other, alpha);
    todo!()
}

fn main() {}
