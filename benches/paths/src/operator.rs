//! The paths of a call through operators: typed, boxed, with guards and fallbacks.

use dispatch_runtime::keys::{ADInplaceOrView, Autograd, BackendSelect, CPU, Functionalize, Negative};
use dispatch_runtime::prelude::*;
use dispatch_runtime::{Marks, guard};

use crate::Loop;

/// An operator with only a CPU kernel.
#[op_def("plain(Tensor self, Tensor other) -> Tensor")]
pub fn plain(this: &Tensor, other: &Tensor) -> Result<Tensor>;

#[op_impl(plain, CPU)]
fn plain_cpu(this: &Tensor, _: &Tensor) -> Tensor {
    this.clone()
}

/// An operator with a CPU kernel and an Autograd kernel.
#[op_def("differentiable(Tensor self, Tensor other) -> Tensor")]
pub fn differentiable(this: &Tensor, other: &Tensor) -> Result<Tensor>;

#[op_impl(differentiable, CPU)]
fn differentiable_cpu(this: &Tensor, _: &Tensor) -> Tensor {
    this.clone()
}

#[op_impl(differentiable, Autograd)]
fn differentiable_autograd(this: &Tensor, other: &Tensor, keys: KeySet) -> Result<Tensor> {
    differentiable::redispatch(keys.below(Autograd), this, other)
}

/// The key of a layer whose fallback returns the first argument of every call.
#[dispatch_key(layer, above = Everything)]
static ReturnFirst: Key;

#[op_fallback(ReturnFirst)]
fn return_first(op: &Operator, _: KeySet, stack: &mut Stack) -> Result<()> {
    stack.drop_top(op.argument_count() - 1);
    Ok(())
}

#[op_fallback(Negative)]
fn redispatch_fallback(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    op.redispatch_boxed(keys.below(Negative), stack)
}

#[op_fallback(Functionalize, marked(REQUIRES_GRAD))]
fn redispatch_marked(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    op.redispatch_boxed(keys.below(Functionalize), stack)
}

/// Makes a typed call in a function that is not inlined. The disassembly test reads it.
#[inline(never)]
#[unsafe(no_mangle)]
pub fn opdispatch_typed_call(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    plain(a, b)
}

#[inline(never)]
fn differentiable_not_inlined(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    differentiable(a, b)
}

pub(crate) fn inlined(calls: Loop<'_>) {
    calls.repeat(plain);
}

pub(crate) fn typed(calls: Loop<'_>) {
    calls.repeat(opdispatch_typed_call);
}

pub(crate) fn redispatch(calls: Loop<'_>) {
    let keys = CPU | ADInplaceOrView | BackendSelect;
    calls.repeat(|a, b| plain::redispatch(std::hint::black_box(keys), a, b));
}

pub(crate) fn through_autograd(calls: Loop<'_>) {
    calls.repeat(differentiable_not_inlined);
}

pub(crate) fn guarded(calls: Loop<'_>) {
    calls.repeat(|_, _| drop(std::hint::black_box(guard::below_autograd())));
}

pub(crate) fn boxed(calls: Loop<'_>) {
    let operator = plain::operator();
    let mut stack = Stack::new();
    calls.repeat(|a, b| -> Result<Tensor> {
        stack.push(a);
        stack.push(b);
        operator.call_boxed(&mut stack)?;
        match stack.pop() {
            Some(Value::Tensor(result)) => Ok(result),
            _ => not_a_tensor(),
        }
    });
}

#[cold]
fn not_a_tensor() -> Result<Tensor> {
    Err(Error::kernel("the result is not a tensor"))
}

pub(crate) fn to_boxed_fallback(calls: Loop<'_>) {
    let _guard = guard::include(ReturnFirst.into());
    calls.repeat(opdispatch_typed_call);
}

/// Calls an operator whose tensors do not have the mark of a fallback, so that the fallback is skipped. Another tensor has the
/// mark, because until the first mark the fallback costs nothing.
pub(crate) fn past_marked_fallback(calls: Loop<'_>) {
    Tensor::from_slice(&[1.0_f32]).mark(Marks::REQUIRES_GRAD);
    let _guard = guard::include(Functionalize.into());
    calls.repeat(opdispatch_typed_call);
}

pub(crate) fn through_boxed_fallback(calls: Loop<'_>) {
    let _guard = guard::include(Negative.into());
    calls.repeat(opdispatch_typed_call);
}
