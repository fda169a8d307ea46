use dispatch_runtime::prelude::*;

#[op_impl(myops::mymul, CPU, when(this.sizes().len()), priority = 1)]
fn mul(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    let _ = (this, other);
    todo!()
}

fn main() {}
