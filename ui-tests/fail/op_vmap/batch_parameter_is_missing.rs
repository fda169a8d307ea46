use dispatch_runtime::prelude::*;
use dispatch_vmap::{Mapped, op_vmap};

#[op_vmap(myops::mymul)]
fn rule(this: Mapped, other: Mapped) -> Result<Mapped> {
    Ok(Mapped::in_front((this.front()? * other.front()?)?))
}

fn main() {}
