use dispatch_runtime::prelude::*;

#[op_impl(myops::square, CPU, boxed)]
fn square() -> Result<()> {
    todo!()
}

fn main() {}
