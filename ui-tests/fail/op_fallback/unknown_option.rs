use dispatch_runtime::prelude::*;

#[op_fallback(ADInplaceOrView, alaising)]
fn audit(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    let _ = (op, keys, stack);
    todo!()
}

fn main() {}
