//! What a thread adds to every call and takes away from it.
//!
//! Each thread has two sets: *include* is added to the keys of every call, *exclude* is then removed. They change through guards
//! only, and a guard puts back what it changed when it is dropped, during a panic too. A kernel that calls operators below its own
//! layer holds one for the length of its body; it costs a few instructions.
//!
//! `exclude` is stored inverted, so that a call is one `or` and one `and`: `(keys | include) & allow`.

mod autocast;
mod autocast_dtypes;
pub(crate) mod grad_mode;
mod layers;
mod thread_state;

use std::cell::Cell;
use std::marker::PhantomData;
use std::panic::Location as Caller;

use crate::key::{AD_INPLACE_OR_VIEW, AUTOCAST, BACKEND_SELECT, KeySet, layer_bit};
use crate::location::Location;
use autocast_dtypes::AutocastDTypes;

pub use autocast::{autocast, autocast_dtype};
pub use grad_mode::{enable_grad, inference_mode, is_grad_enabled, is_inference_mode, no_grad};
pub use layers::{
    below_ad_inplace_or_view, below_autograd, exclude, excluded, force, include, included, skip_functionalize,
};
pub use thread_state::{ThreadState, Unpack, spawn, take_along};

/// Undoes a change of the thread's sets when it is dropped.
///
/// A guard undoes only what it newly changed, so guards nest, may end in any order, and belong to the thread that made them. Two
/// guards that change one and the same key are best ended in order: the key goes back with the one that changed it. [`force`] and
/// [`ThreadState::enter`] put back all that there was, and must be ended after every guard that was made under them.
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
    undo: Undo,
    /// Thread-local state must be undone on its own thread.
    not_send: PhantomData<*const ()>,
}

#[derive(Debug)]
enum Undo {
    /// Layers that were not excluded before: what kernels change.
    Excluded(KeySet, Entered),
    Layers(layers::Change),
    /// The grad mode is the other one.
    Grad,
    Autocast(autocast::Change),
    Nothing,
    Everything(Local),
}

impl Guard {
    #[inline]
    fn new(undo: Undo) -> Self {
        Self { undo, not_send: PhantomData }
    }
}

impl Drop for Guard {
    #[inline]
    fn drop(&mut self) {
        if let Undo::Excluded(layers, entered) = &self.undo {
            OWN.with(|own| {
                own.allow.set(own.allow.get() | *layers);
                own.entered.set(entered.left(own.entered.get()));
            });
        } else {
            self.undo_more();
        }
    }
}

impl Guard {
    #[inline(never)]
    fn undo_more(&self) {
        let now = local();
        set(match &self.undo {
            Undo::Excluded(..) | Undo::Nothing => return,
            Undo::Layers(change) => change.undone(now),
            Undo::Grad => Local { grad: 1 - now.grad, ..now },
            Undo::Autocast(change) => change.undone(now),
            Undo::Everything(before) => *before,
        });
    }
}

/// What a thread adds to and removes from every call.
#[derive(Clone, Copy, Debug)]
struct Local {
    include: KeySet,
    /// Everything that is not excluded.
    allow: KeySet,
    /// Whether autograd may record: 1 or 0. In a `bool`, a value that it does not use would say that the thread ends, and every call
    /// would look.
    grad: u8,
    /// Where autocast is on. Its layer is excluded while that is nowhere.
    dtypes: AutocastDTypes,
    /// Where the innermost guard was entered, for [`explain`](crate::Operator::explain) and for errors.
    entered: Option<&'static Caller<'static>>,
}

impl Local {
    /// Backend selection and view tracking see every call; autocast is switched on, not off.
    const DEFAULT: Self = Self {
        include: KeySet::from_bits(layer_bit(BACKEND_SELECT) | layer_bit(AD_INPLACE_OR_VIEW)),
        allow: KeySet::from_bits(!AUTOCAST_LAYER.bits()),
        grad: 1,
        dtypes: AutocastDTypes::NONE,
        entered: None,
    };

    fn exclude(self) -> KeySet {
        (KeySet::FULL - self.allow).layers()
    }
}

/// The layer that is excluded by default, and the only one that a guard can switch on.
const AUTOCAST_LAYER: KeySet = KeySet::from_bits(layer_bit(AUTOCAST));

/// A thread's [`Local`], field by field: who reads all of it waits for whoever has just written a part.
struct Own {
    include: Cell<KeySet>,
    allow: Cell<KeySet>,
    grad: Cell<u8>,
    dtypes: Cell<AutocastDTypes>,
    entered: Cell<Option<&'static Caller<'static>>>,
    /// How many redispatches are inside of each other. It is the thread's own: no guard changes it.
    depth: Cell<u32>,
}

thread_local! {
    static OWN: Own = const {
        let Local { include, allow, grad, dtypes, entered } = Local::DEFAULT;
        Own {
            include: Cell::new(include),
            allow: Cell::new(allow),
            grad: Cell::new(grad),
            dtypes: Cell::new(dtypes),
            entered: Cell::new(entered),
            depth: Cell::new(0),
        }
    };
}

/// Changes how many redispatches are inside of each other.
#[inline]
pub(crate) fn with_depth<R>(change: impl FnOnce(&Cell<u32>) -> R) -> R {
    OWN.with(|own| change(&own.depth))
}

#[inline]
fn local() -> Local {
    OWN.with(|own| Local {
        include: own.include.get(),
        allow: own.allow.get(),
        grad: own.grad.get(),
        dtypes: own.dtypes.get(),
        entered: own.entered.get(),
    })
}

#[inline]
fn set(local: Local) {
    let Local { include, allow, grad, dtypes, entered } = local;
    OWN.with(|own| {
        own.include.set(include);
        own.allow.set(allow);
        own.grad.set(grad);
        own.dtypes.set(dtypes);
        own.entered.set(entered);
    });
}

/// The keys of a call whose arguments carry `arguments`, on this thread.
#[inline(always)]
pub(crate) fn call_keys(arguments: KeySet) -> KeySet {
    OWN.with(|own| (arguments | own.include.get()) & own.allow.get())
}

/// Where a guard was entered, and where the one around it was.
#[derive(Debug)]
struct Entered {
    at: &'static Caller<'static>,
    before: Option<&'static Caller<'static>>,
}

impl Entered {
    /// The innermost guard's place once this one ends: a guard that was entered later and still lives is the innermost one.
    #[inline]
    fn left(&self, now: Option<&'static Caller<'static>>) -> Option<&'static Caller<'static>> {
        if now.is_some_and(|innermost| std::ptr::eq(innermost, self.at)) { self.before } else { now }
    }
}

/// Where the innermost guard of this thread was entered, while any guard has a say. Guards that end out of order may leave the place of
/// one that ended first.
pub(crate) fn entered_at() -> Option<Location> {
    let local = local();
    let untouched = (local.include, local.allow) == (Local::DEFAULT.include, Local::DEFAULT.allow);
    local.entered.filter(|_| !untouched).map(Location::of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DType;
    use crate::Device;
    use crate::guard::grad_mode::inference_mode;
    use crate::guard::layers::{exclude, excluded, include, included};
    use crate::keys::*;
    use proptest::prelude::*;

    #[test]
    fn a_panic_puts_the_sets_back() {
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
    fn guards_that_end_out_of_order_leave_no_place_behind() {
        let outer = exclude(KeySet::from(Tracer));
        let inner = inference_mode();
        let entered = entered_at();
        drop(outer);
        assert_eq!(entered_at(), entered);
        drop(inner);
        assert_eq!(entered_at(), None);
        let (outer, line) = (exclude(KeySet::from(Tracer)), line!());
        drop(exclude(KeySet::from(Negative)));
        assert_eq!(entered_at(), Some(Location::new(file!(), line)));
        drop(outer);
        assert_eq!(entered_at(), None);
    }

    proptest! {
        #[test]
        fn guards_in_any_order_leave_no_trace(kinds in prop::collection::vec((any::<u64>(), 0..4), 0..8), order in any::<u64>()) {
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
            prop_assert_eq!(entered_at(), None);
        }
    }
}
