//! The paths of a call through operators: typed, boxed, with guards and fallbacks.

use dispatch_runtime::keys::{ADInplaceOrView, Autograd, BackendSelect, CPU, Functionalize, ZeroTensor};
use dispatch_runtime::prelude::*;
use dispatch_runtime::{Marks, guard};

use crate::CallLoop;

/// An operator with only a CPU kernel.
#[op_def("cpu_only(Tensor self, Tensor other) -> Tensor")]
pub fn cpu_only(this: &Tensor, other: &Tensor) -> Result<Tensor>;

#[op_impl(cpu_only, CPU)]
fn cpu_only_cpu(this: &Tensor, _: &Tensor) -> Tensor {
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
static ReturnFirstLayer: Key;

#[op_fallback(ReturnFirstLayer)]
fn return_first_fallback(op: &Operator, _: KeySet, stack: &mut Stack) -> Result<()> {
    stack.drop_top(op.argument_count() - 1);
    Ok(())
}

#[op_fallback(ZeroTensor)]
fn redispatch_fallback(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    op.redispatch_boxed(keys.below(ZeroTensor), stack)
}

#[op_fallback(Functionalize, marked(REQUIRES_GRAD))]
fn redispatch_marked_fallback(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    op.redispatch_boxed(keys.below(Functionalize), stack)
}

/// Makes a typed call in a function that is not inlined. The test `hot_path` disassembles this function.
#[inline(never)]
#[unsafe(no_mangle)]
pub fn opdispatch_typed_call(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    cpu_only(a, b)
}

#[inline(never)]
fn differentiable_not_inlined(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    differentiable(a, b)
}

pub(crate) fn call_typed_inlined(calls: CallLoop<'_>) {
    calls.repeat_call(cpu_only);
}

pub(crate) fn call_typed(calls: CallLoop<'_>) {
    calls.repeat_call(opdispatch_typed_call);
}

pub(crate) fn call_redispatch(calls: CallLoop<'_>) {
    let keys = CPU | ADInplaceOrView | BackendSelect;
    calls.repeat_call(|a, b| cpu_only::redispatch(std::hint::black_box(keys), a, b));
}

pub(crate) fn call_through_autograd_kernel(calls: CallLoop<'_>) {
    calls.repeat_call(differentiable_not_inlined);
}

pub(crate) fn enter_and_leave_guard(calls: CallLoop<'_>) {
    calls.repeat_call(|_, _| drop(std::hint::black_box(guard::below_autograd())));
}

pub(crate) fn call_boxed(calls: CallLoop<'_>) {
    let operator = cpu_only::operator();
    let mut stack = Stack::new();
    calls.repeat_call(|a, b| -> Result<Tensor> {
        stack.push(a);
        stack.push(b);
        operator.call_boxed(&mut stack)?;
        match stack.pop() {
            Some(Value::Tensor(result)) => Ok(result),
            _ => not_a_tensor_error(),
        }
    });
}

#[cold]
fn not_a_tensor_error() -> Result<Tensor> {
    Err(Error::kernel("the result is not a tensor"))
}

pub(crate) fn call_boxed_fallback(calls: CallLoop<'_>) {
    let _guard = guard::include(ReturnFirstLayer.into());
    calls.repeat_call(opdispatch_typed_call);
}

/// Calls an operator whose tensors do not have the mark of a fallback, so that the fallback is skipped. Another tensor has the
/// mark, because until the first mark the fallback costs nothing.
pub(crate) fn call_past_marked_fallback(calls: CallLoop<'_>) {
    Tensor::from_slice(&[1.0_f32]).mark(Marks::REQUIRES_GRAD);
    let _guard = guard::include(Functionalize.into());
    calls.repeat_call(opdispatch_typed_call);
}

pub(crate) fn call_through_boxed_fallback(calls: CallLoop<'_>) {
    let _guard = guard::include(ZeroTensor.into());
    calls.repeat_call(opdispatch_typed_call);
}
