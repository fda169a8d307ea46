//! The runtime under another name: expansions must find it there.
#![forbid(unsafe_code)]

use rt::prelude::*;

/// Adds one.
#[op_def("increment(Tensor self, *, float by=1) -> Tensor", operator = Neg)]
pub fn increment(this: &Tensor, by: f64) -> Result<Tensor>;

#[op_impl(increment, CPU, dtypes(f32))]
fn increment_cpu<T: Number>(this: &Tensor, by: f64) -> Result<Tensor> {
    let _ = by;
    Ok(this.clone())
}

/// A key of this crate.
#[dispatch_key(layer, above = Everything)]
pub static Watcher: Key;

#[op_fallback(Watcher)]
fn watch(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    op.redispatch_boxed(keys.below(Watcher), stack)
}

fallthrough!(increment, Tracer);

/// Calls by name.
pub fn by_name(x: &Tensor) -> Result<Tensor> {
    increment!(x)
}
