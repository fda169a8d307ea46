use dispatch_runtime::prelude::*;
use dispatch_vmap::{Batch, Mapped, op_vmap};

#[op_vmap(myops::scale_)]
fn rule(_: &Batch, this: Mapped, by: i64) -> Result<Mapped> {
    Ok(Mapped::from_batch_first((this.batch_first()? * by as f64)?))
}

fn main() {}
