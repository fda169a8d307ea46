use dispatch_runtime::prelude::*;

#[op_fallback(Tracer)]
fn audit(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> ;

fn main() {}
