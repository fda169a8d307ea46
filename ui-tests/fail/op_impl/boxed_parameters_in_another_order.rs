use dispatch_runtime::prelude::*;

#[op_impl(myops::square, CPU, boxed)]
fn square(op: &Operator, stack: &mut Stack, keys: KeySet) -> Result<()> {
    let _ = (op, stack, keys);
    todo!()
}

fn main() {}
