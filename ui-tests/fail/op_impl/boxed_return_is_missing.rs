use dispatch_runtime::prelude::*;

#[op_impl(myops::square, CPU, boxed)]
fn square(op: &Operator, keys: KeySet, stack: &mut Stack) {
    let _ = (op, keys, stack);
    todo!()
}

fn main() {}
