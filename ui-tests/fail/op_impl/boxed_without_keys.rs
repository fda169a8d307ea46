use dispatch_runtime::prelude::*;

#[op_impl(myops::square, CPU, boxed)]
fn square(op: &Operator, stack: &mut Stack) -> Result<()> {
    let _ = (op, stack);
    todo!()
}

fn main() {}
