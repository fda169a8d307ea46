use dispatch_runtime::prelude::*;
use dispatch_vmap::{Batch, Mapped, op_vmap};

#[op_vmap(myops::mymul)]
fn rule(_: &Batch, this: Mapped, other: &Tensor) -> Result<Mapped> {
    Ok(Mapped::from_batch_first((this.batch_first()? * other)?))
}

fn main() {}
