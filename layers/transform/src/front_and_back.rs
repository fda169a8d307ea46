//! The front and back layers, which route each call through the levels.

use std::cell::Cell;

use dispatch_runtime::guard::{self, ThreadState};
use dispatch_runtime::{KeySet, Operator, Result, Stack, keys, op_fallback};

use crate::level_stack::{PoppedLevel, front_and_back_layers, innermost_entry};

thread_local! {
    /// The thread state of the call that is between the front and the back layer.
    static CALLER_STATE: Cell<Option<ThreadState>> = const { Cell::new(None) };
}

/// Returns the thread state in which the transformed function made the current call, without the changes of the levels.
///
/// A layer that later calls operators on the function's behalf stores this state.
///
/// ```
/// let _state = dispatch_transform::caller_state();
/// ```
#[must_use]
#[inline]
pub fn caller_state() -> ThreadState {
    CALLER_STATE.get().unwrap_or_else(ThreadState::capture)
}

/// A scope that replaces the caller's state until it is dropped.
struct CallerStateScope(Option<ThreadState>);

impl CallerStateScope {
    fn enter(state: Option<ThreadState>) -> Self {
        Self(CALLER_STATE.replace(state))
    }
}

impl Drop for CallerStateScope {
    fn drop(&mut self) {
        CALLER_STATE.set(self.0);
    }
}

/// Returns all layers that any transform uses.
fn transform_layers() -> KeySet {
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
fn front_fallback(operator: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    let Some(entry) = innermost_entry() else {
        return operator.redispatch_boxed(keys.below(keys::FuncTorchDynamicLayerFrontMode), stack);
    };
    if let Some(arguments) = stack.top_mut(operator.argument_count()) {
        entry.transform.prepare_arguments(&entry.level, operator, arguments)?;
    }
    let _calling = CallerStateScope::enter(Some(ThreadState::capture()));
    let _modes = guard::include(entry.transform.mode_keys());
    let _only = guard::exclude(transform_layers() - entry.transform.layer_keys());
    // The layers above the front have already seen this call.
    operator.call_boxed_below(keys::FuncTorchDynamicLayerFrontMode, stack)
}

#[op_fallback(FuncTorchDynamicLayerBackMode)]
fn back_fallback(operator: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    let below = keys.below(keys::FuncTorchDynamicLayerBackMode);
    let Some(popped) = PoppedLevel::pop() else { return operator.redispatch_boxed(below, stack) };
    let Some(entry) = popped.entry() else { return operator.redispatch_boxed(below, stack) };
    let caller = caller_state();
    let _calling = CallerStateScope::enter(None);
    let _state = caller.enter();
    let _recording = entry
        .transform
        .has_own_grad_mode()
        .then(|| if entry.records_below { guard::enable_grad() } else { guard::no_grad() });
    // The front and back layers are neither included nor excluded, so that the kernel of the call may enter levels of its own.
    let without_levels = || guard::force_key_sets(guard::included() - front_and_back_layers(), guard::excluded());
    let _guard = (crate::depth() == 0).then(without_levels);
    entry.transform.call_below(&entry.level, operator, stack, &mut |stack| operator.call_boxed(stack))
}
