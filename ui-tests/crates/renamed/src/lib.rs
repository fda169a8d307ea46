//! A crate that renames the runtime in its manifest. Macro expansions must find it under that name.
#![forbid(unsafe_code)]

use rt::prelude::*;

/// Adds `by`, which is 1 by default.
#[op_def("increment(Tensor self, *, float by=1) -> Tensor", operator = Neg)]
pub fn increment(this: &Tensor, by: f64) -> Result<Tensor>;

#[op_impl(increment, CPU, dtypes(f32))]
fn increment_cpu<T: Number>(this: &Tensor, by: f64) -> Result<Tensor> {
    let _ = by;
    Ok(this.clone())
}

/// The key of a layer of this crate.
#[dispatch_key(layer, above = Everything)]
pub static Watcher: Key;

#[op_fallback(Watcher)]
fn redispatch_below_watcher(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    op.redispatch_boxed(keys.below(Watcher), stack)
}

fallthrough!(increment, Tracer);

/// Calls the operator with named arguments.
pub fn call_by_name(x: &Tensor) -> Result<Tensor> {
    increment!(x)
}
