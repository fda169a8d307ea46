//! A layer: one boxed kernel sees every call of every operator, whoever defined it.
#![forbid(unsafe_code)]

use std::cell::Cell;

use dispatch_runtime::guard::{self, Guard};
use dispatch_runtime::prelude::*;

/// The layer's key: above autograd, so it sees what the user calls, and what composites call in turn.
#[dispatch_key(layer, above = Autograd)]
pub static Audit: Key;

thread_local! {
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Prints every call of this thread while the guard lives.
pub fn audited() -> Guard {
    guard::include(Audit.into())
}

#[op_fallback(Audit)]
fn audit(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    println!("{:indent$}{op}{}", "", stack.args(op), indent = 2 * DEPTH.get() + 2);
    DEPTH.set(DEPTH.get() + 1);
    let result = op.redispatch_boxed(keys.below(Audit), stack);
    DEPTH.set(DEPTH.get() - 1);
    result
}
