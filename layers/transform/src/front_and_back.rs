//! The front and back layers, which route each call through the levels.

use std::cell::Cell;

use dispatch_runtime::guard::{self, ThreadState};
use dispatch_runtime::{KeySet, Operator, Result, Stack, keys, op_fallback};

use crate::level_stack::{Aside, modes, top};

thread_local! {
    /// The thread state of the call that is between front and back.
    static CALLER: Cell<Option<ThreadState>> = const { Cell::new(None) };
}

/// Returns the thread state in which the function made the current call, without the changes of the levels.
///
/// A layer that later calls operators on the function's behalf stores this state.
///
/// ```
/// let _state = dispatch_transform::calling_state();
/// ```
#[must_use]
#[inline]
pub fn calling_state() -> ThreadState {
    CALLER.get().unwrap_or_else(ThreadState::capture)
}

/// A scope that replaces the caller's state until it is dropped.
struct Calling(Option<ThreadState>);

impl Calling {
    fn from(state: Option<ThreadState>) -> Self {
        Self(CALLER.replace(state))
    }
}

impl Drop for Calling {
    fn drop(&mut self) {
        CALLER.set(self.0);
    }
}

/// Returns all layers that any transform uses.
fn of_transforms() -> KeySet {
    let layers = [
        keys::FuncTorchDynamicLayerFrontMode,
        keys::FuncTorchGradWrapper,
        keys::FuncTorchBatched,
        keys::FuncTorchVmapMode,
        keys::BatchedNestedTensor,
        keys::Autograd,
        keys::ADInplaceOrView,
    ];
    layers.into_iter().fold(KeySet::EMPTY, |all, key| all | KeySet::layers_of(key))
}

#[op_fallback(FuncTorchDynamicLayerFrontMode)]
fn front(operator: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    let Some(entry) = top() else {
        return operator.redispatch_boxed(keys.below(keys::FuncTorchDynamicLayerFrontMode), stack);
    };
    if let Some(arguments) = stack.top_mut(operator.argument_count()) {
        entry.transform.prepare(&entry.level, operator, arguments)?;
    }
    let _calling = Calling::from(Some(ThreadState::capture()));
    let _modes = guard::include(entry.transform.modes());
    let _only = guard::exclude(of_transforms() - entry.transform.layers());
    // The layers above the front have already seen this call.
    operator.call_boxed_below(keys::FuncTorchDynamicLayerFrontMode, stack)
}

#[op_fallback(FuncTorchDynamicLayerBackMode)]
fn back(operator: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    let below = keys.below(keys::FuncTorchDynamicLayerBackMode);
    let Some(aside) = Aside::set() else { return operator.redispatch_boxed(below, stack) };
    let Some(entry) = aside.entry() else { return operator.redispatch_boxed(below, stack) };
    let caller = calling_state();
    let _calling = Calling::from(None);
    let _state = caller.enter();
    let _recording = entry
        .transform
        .has_own_grad_mode()
        .then(|| if entry.records_below { guard::enable_grad() } else { guard::no_grad() });
    // The layers are neither included nor excluded, so that the kernel of the call may enter levels of its own.
    let plain = || guard::force(guard::included() - modes(), guard::excluded());
    let _done = (crate::depth() == 0).then(plain);
    entry.transform.leave(&entry.level, operator, stack, &mut |stack| operator.call_boxed(stack))
}
