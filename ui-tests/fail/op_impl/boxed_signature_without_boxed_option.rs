use dispatch_runtime::prelude::*;

#[op_impl(myops::square, CPU)]
fn square(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    let _ = (op, keys, stack);
    todo!()
}

fn main() {}
