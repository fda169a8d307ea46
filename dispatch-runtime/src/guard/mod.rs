//! Guards: the keys that a thread adds to every call, and the layers that it removes.
//!
//! Each thread has two sets: the keys of *include* are added to every call, then the layers of *exclude* are removed. Only guards change
//! the sets. A guard restores what it changed when it is dropped, also during a panic. A kernel that calls operators below its own layer
//! holds a guard while its body runs. A guard costs a few instructions.
//!
//! `exclude` is stored inverted, so that a call is one `or` and one `and`: `(keys | include) & allowed`.

mod autocast;
mod autocast_dtypes;
pub(crate) mod grad_mode;
mod key_guards;
mod thread_state;

use std::cell::Cell;
use std::marker::PhantomData;
use std::panic::Location as Caller;

use crate::key::{AD_INPLACE_OR_VIEW, AUTOCAST, BACKEND_SELECT, KeySet, layer_bit};
use crate::location::Location;
use autocast_dtypes::AutocastDTypes;

pub use autocast::{autocast, autocast_dtype};
pub use grad_mode::{enable_grad, inference_mode, is_grad_enabled, is_inference_mode, no_grad};
pub use key_guards::{
    below_ad_inplace_or_view, below_autograd, exclude, excluded, force_key_sets, include, included, skip_functionalize,
};
pub use thread_state::{InstallState, ThreadState, register_inherited_state, spawn};

/// A guard: it undoes a change of the thread's key sets, grad mode or autocast dtypes when it is dropped.
///
/// A guard undoes only the bits that it changed. So guards nest and may be dropped in any order. They belong to the thread that made them.
/// Drop two guards for the same key in reverse order: the guard that changed the key restores it. [`force_key_sets`] and
/// [`ThreadState::enter`] restore the whole state, and must be dropped after every guard that was made under them.
///
/// ```
/// use dispatch_runtime::{KeySet, guard, keys::*};
///
/// {
///     let _below = guard::exclude(KeySet::layers_of(Tracer));
///     assert!(guard::excluded().has(Tracer));
/// }
/// assert!(!guard::excluded().has(Tracer));
/// ```
#[must_use = "a guard that is not bound to a name is dropped at once"]
#[derive(Debug)]
pub struct Guard {
    undo: UndoAction,
    /// Makes the guard `!Send`: thread-local state must be undone on its own thread.
    not_send: PhantomData<*const ()>,
}

#[derive(Debug)]
enum UndoAction {
    /// Layers that the guard excluded. This is the fast path, for guards in kernels.
    ExcludedLayers(KeySet, GuardLocations),
    KeySets(key_guards::KeySetChange),
    /// The guard switched the grad mode.
    GradMode,
    Autocast(autocast::AutocastChange),
    Nothing,
    WholeState(GuardState),
}

impl Guard {
    #[inline]
    fn new(undo: UndoAction) -> Self {
        Self { undo, not_send: PhantomData }
    }
}

impl Drop for Guard {
    #[inline]
    fn drop(&mut self) {
        if let UndoAction::ExcludedLayers(layers, locations) = &self.undo {
            GUARD_STATE.with(|cells| {
                cells.allowed.set(cells.allowed.get() | *layers);
                cells.innermost_guard.set(locations.innermost_location_after_drop(cells.innermost_guard.get()));
            });
        } else {
            self.undo_slow();
        }
    }
}

impl Guard {
    #[inline(never)]
    fn undo_slow(&self) {
        let now = load_guard_state();
        store_guard_state(match &self.undo {
            UndoAction::ExcludedLayers(..) | UndoAction::Nothing => return,
            UndoAction::KeySets(change) => change.undo(now),
            UndoAction::GradMode => GuardState { grad_mode: 1 - now.grad_mode, ..now },
            UndoAction::Autocast(change) => change.undo(now),
            UndoAction::WholeState(before) => *before,
        });
    }
}

/// The guard state of a thread: key sets, grad mode and autocast.
#[derive(Clone, Copy, Debug)]
struct GuardState {
    include: KeySet,
    /// The complement of the excluded layers.
    allowed: KeySet,
    /// Whether autograd may record: 1 or 0. A `bool` has unused values. The compiler would encode "the thread-local is destroyed" in one,
    /// and every call would check for it.
    grad_mode: u8,
    /// The dtype of each backend for which autocast is on. If there is none, the layer `Autocast` is excluded.
    autocast_dtypes: AutocastDTypes,
    /// The location where the innermost guard was made, for [`explain`](crate::Operator::explain) and for errors.
    innermost_guard: Option<&'static Caller<'static>>,
}

impl GuardState {
    /// The state of a new thread: backend selection and view tracking are included, autocast is excluded.
    const DEFAULT: Self = Self {
        include: KeySet::from_bits(layer_bit(BACKEND_SELECT) | layer_bit(AD_INPLACE_OR_VIEW)),
        allowed: KeySet::from_bits(!AUTOCAST_LAYER.bits()),
        grad_mode: 1,
        autocast_dtypes: AutocastDTypes::NONE,
        innermost_guard: None,
    };

    fn excluded_layers(self) -> KeySet {
        (KeySet::FULL - self.allowed).layers()
    }
}

/// The layer that is excluded by default, and the only one that a guard can switch on.
const AUTOCAST_LAYER: KeySet = KeySet::from_bits(layer_bit(AUTOCAST));

/// A thread's [`GuardState`], one cell per field. Loading the whole struct just after a store to one field would stall.
struct GuardStateCells {
    include: Cell<KeySet>,
    allowed: Cell<KeySet>,
    grad_mode: Cell<u8>,
    autocast_dtypes: Cell<AutocastDTypes>,
    innermost_guard: Cell<Option<&'static Caller<'static>>>,
    /// The number of nested redispatches on this thread. Guards do not change it.
    redispatch_depth: Cell<u32>,
}

thread_local! {
    static GUARD_STATE: GuardStateCells = const {
        let GuardState { include, allowed, grad_mode, autocast_dtypes, innermost_guard } = GuardState::DEFAULT;
        GuardStateCells {
            include: Cell::new(include),
            allowed: Cell::new(allowed),
            grad_mode: Cell::new(grad_mode),
            autocast_dtypes: Cell::new(autocast_dtypes),
            innermost_guard: Cell::new(innermost_guard),
            redispatch_depth: Cell::new(0),
        }
    };
}

/// Calls `change` with the number of nested redispatches on this thread.
#[inline]
pub(crate) fn with_redispatch_depth<R>(change: impl FnOnce(&Cell<u32>) -> R) -> R {
    GUARD_STATE.with(|cells| change(&cells.redispatch_depth))
}

#[inline]
fn load_guard_state() -> GuardState {
    GUARD_STATE.with(|cells| GuardState {
        include: cells.include.get(),
        allowed: cells.allowed.get(),
        grad_mode: cells.grad_mode.get(),
        autocast_dtypes: cells.autocast_dtypes.get(),
        innermost_guard: cells.innermost_guard.get(),
    })
}

#[inline]
fn store_guard_state(state: GuardState) {
    let GuardState { include, allowed, grad_mode, autocast_dtypes, innermost_guard } = state;
    GUARD_STATE.with(|cells| {
        cells.include.set(include);
        cells.allowed.set(allowed);
        cells.grad_mode.set(grad_mode);
        cells.autocast_dtypes.set(autocast_dtypes);
        cells.innermost_guard.set(innermost_guard);
    });
}

/// Returns the keys of a call on this thread whose arguments have the keys `arguments`.
#[inline(always)]
pub(crate) fn call_keys(arguments: KeySet) -> KeySet {
    GUARD_STATE.with(|cells| (arguments | cells.include.get()) & cells.allowed.get())
}

/// The locations where a guard and the guard around it were made.
#[derive(Debug)]
struct GuardLocations {
    at: &'static Caller<'static>,
    before: Option<&'static Caller<'static>>,
}

impl GuardLocations {
    /// Returns the location of the innermost guard after this one ends. A guard that was made later and still exists remains the innermost
    /// one.
    #[inline]
    fn innermost_location_after_drop(&self, now: Option<&'static Caller<'static>>) -> Option<&'static Caller<'static>> {
        if now.is_some_and(|innermost| std::ptr::eq(innermost, self.at)) { self.before } else { now }
    }
}

/// Returns the location where this thread's innermost guard was made, or `None` if the sets have their default values. After guards that
/// ended out of order, it can be the location of one that ended.
pub(crate) fn innermost_guard_location() -> Option<Location> {
    let state = load_guard_state();
    let untouched = (state.include, state.allowed) == (GuardState::DEFAULT.include, GuardState::DEFAULT.allowed);
    state.innermost_guard.filter(|_| !untouched).map(Location::from_std)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DType;
    use crate::Device;
    use crate::guard::grad_mode::inference_mode;
    use crate::guard::key_guards::{exclude, excluded, include, included};
    use crate::keys::*;
    use proptest::prelude::*;

    #[test]
    fn a_panic_restores_the_key_sets() {
        let before = (included(), excluded());
        let caught = std::panic::catch_unwind(|| {
            let _inference = inference_mode();
            let _meta = include(KeySet::from(Meta));
            panic!("inside");
        });
        assert!(caught.is_err());
        assert_eq!((included(), excluded()), before);
    }

    #[test]
    fn guards_dropped_out_of_order_restore_the_innermost_location() {
        let outer = exclude(KeySet::from(Tracer));
        let inner = inference_mode();
        let entered = innermost_guard_location();
        drop(outer);
        assert_eq!(innermost_guard_location(), entered);
        drop(inner);
        assert_eq!(innermost_guard_location(), None);
        let (outer, line) = (exclude(KeySet::from(Tracer)), line!());
        drop(exclude(KeySet::from(Negative)));
        assert_eq!(innermost_guard_location(), Some(Location::new(file!(), line)));
        drop(outer);
        assert_eq!(innermost_guard_location(), None);
    }

    proptest! {
        #[test]
        fn guards_dropped_in_any_order_restore_the_key_sets(kinds in prop::collection::vec((any::<u64>(), 0..4), 0..8), order in any::<u64>()) {
            let before = (included(), excluded());
            let mut guards = Vec::new();
            for (bits, kind) in kinds {
                let keys = KeySet::from_bits(bits) - (KeySet::from(ADInplaceOrView) | KeySet::layers_of(Autocast));
                guards.push(match kind {
                    0 => include(keys),
                    1 => exclude(keys),
                    2 => inference_mode(),
                    _ => autocast(Device::new([CPU, CUDA, Meta][(bits % 3) as usize]).unwrap(), Some(DType::F16)),
                });
            }
            let mut order = order;
            while let Some(count) = std::num::NonZeroU64::new(u64::try_from(guards.len()).unwrap()) {
                drop(guards.swap_remove(usize::try_from(order % count).unwrap()));
                order /= count;
            }
            prop_assert_eq!((included(), excluded()), before);
            prop_assert_eq!(innermost_guard_location(), None);
        }
    }
}
