use dispatch_runtime::prelude::*;
use dispatch_vmap::{Batch, Mapped, op_vmap};

#[op_vmap(myops::mymul)]
fn rule(_: &Batch, this: Mapped, other: Mapped) -> Result<Tensor> {
    this.batch_first()? * other.batch_first()?
}

fn main() {}
