//! A layer over every operator of every crate: one boxed fallback prints each call.
#![forbid(unsafe_code)]

use std::cell::Cell;

use dispatch_runtime::guard::{self, Guard};
use dispatch_runtime::prelude::*;

/// The layer's key. It is above autograd, so the layer sees the user's calls and the calls inside of composites.
#[dispatch_key(layer, above = Autograd)]
pub static Audit: Key;

thread_local! {
    static CALL_DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Enables the layer: every call of this thread is printed until the guard is dropped.
pub fn enable_call_printing() -> Guard {
    guard::include(Audit.into())
}

#[op_fallback(Audit)]
fn print_and_redispatch(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    println!("{:indent$}{op}{}", "", stack.display_args(op), indent = 2 * CALL_DEPTH.get() + 2);
    CALL_DEPTH.set(CALL_DEPTH.get() + 1);
    let result = op.redispatch_boxed(keys.below(Audit), stack);
    CALL_DEPTH.set(CALL_DEPTH.get() - 1);
    result
}
