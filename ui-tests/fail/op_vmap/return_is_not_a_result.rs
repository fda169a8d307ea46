use dispatch_vmap::{Batch, Mapped, op_vmap};

#[op_vmap(myops::square)]
fn rule(_: &Batch, this: Mapped) -> Mapped {
    this
}

fn main() {}
