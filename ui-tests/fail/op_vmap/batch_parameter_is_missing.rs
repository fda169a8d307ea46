use dispatch_runtime::prelude::*;
use dispatch_vmap::{Mapped, op_vmap};

#[op_vmap(myops::mymul)]
fn rule(this: Mapped, other: Mapped) -> Result<Mapped> {
    Ok(Mapped::from_batch_first((this.batch_first()? * other.batch_first()?)?))
}

fn main() {}
