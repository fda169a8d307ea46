use dispatch_runtime::prelude::*;

#[op_fallback(Tracer)]
fn audit<T>(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    let _ = (op, keys, stack);
    todo!()
}

fn main() {}
