//! What a thread adds to every call and takes away from it.
//!
//! Each thread has two sets: *include* is added to the keys of every call, *exclude* is then removed. They change through guards
//! only, and a guard puts back what it changed when it is dropped, during a panic too. A kernel that calls operators below its own
//! layer holds one for the length of its body; it costs a few instructions.
//!
//! `exclude` is stored inverted, so that a call is one `or` and one `and`: `(keys | include) & allow`.

use std::cell::Cell;
use std::marker::PhantomData;
use std::panic::Location as Caller;

use crate::device::Device;
use crate::dtype::DType;
use crate::key::{
    AD_INPLACE_OR_VIEW, AUTOCAST, AUTOGRAD, AUTOGRAD_NESTED_TENSOR, AUTOGRAD_OTHER, BACKEND_SELECT, layer_bit,
};
use crate::key_set::KeySet;
use crate::keys::{ADInplaceOrView, Autograd};
use crate::location::Location;
use crate::low_dtypes::LowDTypes;

/// What a thread adds to and removes from every call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Local {
    include: KeySet,
    /// Everything that is not excluded.
    allow: KeySet,
    /// Whether autograd may record: 1 or 0. In a `bool`, a value that it does not use would say that the thread ends, and every call
    /// would look.
    grad: u8,
    /// Where autocast is on. Its layer is excluded while that is nowhere.
    low: LowDTypes,
    /// Where the innermost guard was entered, for [`explain`](crate::Operator::explain) and for errors.
    pub(crate) entered: Option<&'static Caller<'static>>,
}

impl Local {
    /// Backend selection and view tracking see every call; autocast is switched on, not off.
    const DEFAULT: Self = Self {
        include: KeySet::from_bits(layer_bit(BACKEND_SELECT) | layer_bit(AD_INPLACE_OR_VIEW)),
        allow: KeySet::from_bits(!AUTOCAST_LAYER.bits()),
        grad: 1,
        low: LowDTypes::NONE,
        entered: None,
    };

    fn exclude(self) -> KeySet {
        (KeySet::FULL - self.allow).layers()
    }

    /// The innermost guard's place once the one of `entered` ends: a guard that was entered later and still lives is the innermost one.
    #[inline]
    fn entered_without(
        self,
        entered: &'static Caller<'static>,
        before: Option<&'static Caller<'static>>,
    ) -> Option<&'static Caller<'static>> {
        if self.entered.is_some_and(|innermost| std::ptr::eq(innermost, entered)) { before } else { self.entered }
    }
}

/// The layer that is excluded by default, and the only one that a guard can switch on.
const AUTOCAST_LAYER: KeySet = KeySet::from_bits(layer_bit(AUTOCAST));

thread_local! {
    static LOCAL: Cell<Local> = const { Cell::new(Local::DEFAULT) };
}

/// The keys of a call whose arguments carry `arguments`, on this thread.
#[inline(always)]
pub(crate) fn call_keys(arguments: KeySet) -> KeySet {
    let local = LOCAL.get();
    (arguments | local.include) & local.allow
}

pub(crate) fn local() -> Local {
    LOCAL.get()
}

/// The keys that this thread adds to every call.
///
/// ```
/// use dispatch_runtime::{guard, keys::*};
/// assert_eq!(guard::included(), BackendSelect | ADInplaceOrView);
/// ```
#[must_use]
pub fn included() -> KeySet {
    LOCAL.get().include
}

/// The layers that this thread removes from every call.
///
/// ```
/// use dispatch_runtime::{guard, keys::*};
/// assert!(guard::excluded().has(Autocast) && !guard::excluded().has(Autograd));
/// ```
#[must_use]
pub fn excluded() -> KeySet {
    LOCAL.get().exclude()
}

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
    /// Bits that were not there before, or were.
    Change {
        included: KeySet,
        no_longer_included: KeySet,
        excluded: KeySet,
        entered: &'static Caller<'static>,
        entered_before: Option<&'static Caller<'static>>,
    },
    /// The grad mode is the other one.
    Grad,
    /// Autocast of a backend, and its layer where that was kept out or let in by somebody else.
    Autocast {
        dtype: Option<(Device, Option<DType>)>,
        allowed: Option<KeySet>,
        entered: &'static Caller<'static>,
        entered_before: Option<&'static Caller<'static>>,
    },
    Nothing,
    Everything(Local),
}

/// Adds `keys` to every call of this thread.
///
/// ```
/// use dispatch_runtime::{KeySet, guard, keys::*};
/// let _meta = guard::include(KeySet::from(Meta));
/// assert!(guard::included().has(Meta));
/// ```
#[track_caller]
#[inline]
pub fn include(keys: KeySet) -> Guard {
    change(keys, KeySet::EMPTY, KeySet::EMPTY)
}

/// Removes the layers of `keys` from every call of this thread.
///
/// ```
/// use dispatch_runtime::{KeySet, guard, keys::*};
/// let _no_views = guard::exclude(KeySet::from(ADInplaceOrView));
/// assert!(guard::excluded().has(ADInplaceOrView));
/// ```
#[track_caller]
#[inline]
pub fn exclude(layers: KeySet) -> Guard {
    change(KeySet::EMPTY, KeySet::EMPTY, layers)
}

/// Replaces both sets, and puts both back as they were: the guard must be dropped after every guard that was made under it.
///
/// ```
/// use dispatch_runtime::{KeySet, guard, keys::*};
/// let _bare = guard::force(KeySet::EMPTY, KeySet::from(Tracer));
/// assert!(guard::included().is_empty() && !guard::excluded().has(Autocast));
/// ```
#[track_caller]
pub fn force(include: KeySet, exclude: KeySet) -> Guard {
    let before = LOCAL.get();
    LOCAL.set(Local { include, allow: KeySet::FULL - exclude, entered: Some(Caller::caller()), ..before });
    Guard { undo: Undo::Everything(before), not_send: PhantomData }
}

/// Calls go below autograd: what an autograd kernel holds while it computes.
///
/// ```
/// use dispatch_runtime::{guard, keys::*};
/// let _below = guard::below_autograd();
/// assert!(guard::excluded().has(AutogradOther) && !guard::excluded().has(ADInplaceOrView));
/// ```
#[track_caller]
pub fn below_autograd() -> Guard {
    exclude(KeySet::layers_of(Autograd))
}

/// Calls go below view tracking and everything above it.
///
/// ```
/// use dispatch_runtime::{guard, keys::*};
/// let _below = guard::below_ad_inplace_or_view();
/// assert!(guard::excluded().has(Autograd) && guard::excluded().has(ADInplaceOrView));
/// ```
#[track_caller]
#[inline]
pub fn below_ad_inplace_or_view() -> Guard {
    const LAYERS: KeySet = KeySet::from_bits(
        layer_bit(AUTOGRAD)
            | layer_bit(AUTOGRAD_OTHER)
            | layer_bit(AUTOGRAD_NESTED_TENSOR)
            | layer_bit(AD_INPLACE_OR_VIEW),
    );
    exclude(LAYERS)
}

/// Calls skip functionalization.
///
/// ```
/// use dispatch_runtime::{guard, keys::*};
/// let _skip = guard::skip_functionalize();
/// assert!(guard::excluded().has(Functionalize));
/// ```
#[track_caller]
pub fn skip_functionalize() -> Guard {
    exclude(KeySet::layers_of(crate::keys::Functionalize))
}

/// Neither autograd nor view tracking sees any call. Tensors made meanwhile are inference tensors.
///
/// ```
/// use dispatch_runtime::{guard, keys::*};
/// let _fast = guard::inference_mode();
/// assert!(guard::excluded().has(Autograd) && !guard::included().has(ADInplaceOrView));
/// assert!(guard::is_inference_mode());
/// ```
#[track_caller]
pub fn inference_mode() -> Guard {
    change(KeySet::EMPTY, KeySet::from(ADInplaceOrView), KeySet::layers_of(Autograd))
}

/// Whether this thread is in [`inference_mode`].
///
/// ```
/// assert!(!dispatch_runtime::guard::is_inference_mode());
/// ```
#[must_use]
#[inline]
pub fn is_inference_mode() -> bool {
    let local = LOCAL.get();
    // Outside of inference mode this is as much as every new tensor pays.
    local.include.bits() & layer_bit(AD_INPLACE_OR_VIEW) == 0 && is_without_autograd(local)
}

#[cold]
fn is_without_autograd(local: Local) -> bool {
    local.exclude().has(Autograd)
}

/// What is computed meanwhile is not recorded: results do not require gradients, and leaves may be written to.
///
/// ```
/// use dispatch_runtime::guard;
/// let _no_grad = guard::no_grad();
/// assert!(!guard::is_grad_enabled());
/// ```
pub fn no_grad() -> Guard {
    set_grad(0)
}

/// What is computed meanwhile is recorded again, inside of [`no_grad`].
///
/// ```
/// use dispatch_runtime::guard;
/// let _no_grad = guard::no_grad();
/// let _but_here = guard::enable_grad();
/// assert!(guard::is_grad_enabled());
/// ```
pub fn enable_grad() -> Guard {
    set_grad(1)
}

fn set_grad(grad: u8) -> Guard {
    let before = LOCAL.get();
    LOCAL.set(Local { grad, ..before });
    Guard { undo: if before.grad == grad { Undo::Nothing } else { Undo::Grad }, not_send: PhantomData }
}

/// Whether autograd records on this thread: neither in [`no_grad`] nor in [`inference_mode`].
///
/// ```
/// use dispatch_runtime::guard;
/// assert!(guard::is_grad_enabled());
/// let _inference = guard::inference_mode();
/// assert!(!guard::is_grad_enabled());
/// ```
#[must_use]
#[inline]
pub fn is_grad_enabled() -> bool {
    LOCAL.get().grad == 1 && !is_inference_mode()
}

/// Autocast is on for the backend of `device` with this dtype, or off without any. Calls reach the layer `Autocast` while it is on for
/// some backend; what the layer does with them is its own business.
///
/// ```
/// use dispatch_runtime::prelude::*;
/// use dispatch_runtime::guard;
///
/// let _on = guard::autocast(Device::CPU, Some(DType::BF16));
/// assert!(!guard::excluded().has(keys::Autocast));
/// let _but_not_here = guard::autocast(Device::CPU, None);
/// assert!(guard::excluded().has(keys::Autocast));
/// ```
#[track_caller]
pub fn autocast(device: Device, dtype: Option<DType>) -> Guard {
    let before = LOCAL.get();
    let low = before.low.with(device, dtype);
    let allow = match dtype {
        Some(_) => before.allow | AUTOCAST_LAYER,
        None if low == LowDTypes::NONE => before.allow - AUTOCAST_LAYER,
        None => before.allow,
    };
    let entered = Caller::caller();
    LOCAL.set(Local { allow, low, entered: Some(entered), ..before });
    // Where no other backend had it on, the layer goes with the last one of them.
    let changed = before.low != LowDTypes::NONE && before.allow != allow;
    Guard {
        undo: Undo::Autocast {
            dtype: (before.low != low).then(|| (device, before.low.get(device))),
            allowed: changed.then_some(before.allow & AUTOCAST_LAYER),
            entered,
            entered_before: before.entered,
        },
        not_send: PhantomData,
    }
}

/// The dtype that [`autocast`] is on with for the backend of `device`, on this thread.
///
/// ```
/// use dispatch_runtime::{DType, Device, guard};
/// let _on = guard::autocast(Device::META, Some(DType::F16));
/// assert_eq!(guard::autocast_dtype(Device::META), Some(DType::F16));
/// assert_eq!(guard::autocast_dtype(Device::CPU), None);
/// ```
#[must_use]
pub fn autocast_dtype(device: Device) -> Option<DType> {
    LOCAL.get().low.get(device)
}

#[track_caller]
#[inline]
fn change(include: KeySet, no_longer_include: KeySet, exclude: KeySet) -> Guard {
    let before = LOCAL.get();
    let included = KeySet::from_bits(include.bits() & !before.include.bits());
    let no_longer_included = no_longer_include.layers() & before.include;
    let excluded = exclude.layers() & before.allow;
    let entered = Caller::caller();
    LOCAL.set(Local {
        include: (before.include | included) - no_longer_included,
        allow: before.allow - excluded,
        entered: Some(entered),
        ..before
    });
    let entered_before = before.entered;
    Guard {
        undo: Undo::Change { included, no_longer_included, excluded, entered, entered_before },
        not_send: PhantomData,
    }
}

impl Drop for Guard {
    #[inline]
    fn drop(&mut self) {
        let now = LOCAL.get();
        LOCAL.set(match self.undo {
            Undo::Change { included, no_longer_included, excluded, entered, entered_before } => Local {
                include: KeySet::from_bits(now.include.bits() & !included.bits()) | no_longer_included,
                allow: now.allow | excluded,
                entered: now.entered_without(entered, entered_before),
                ..now
            },
            Undo::Grad => Local { grad: 1 - now.grad, ..now },
            Undo::Autocast { dtype, allowed, entered, entered_before } => {
                let low = dtype.map_or(now.low, |(device, dtype)| now.low.with(device, dtype));
                let allowed = if low == LowDTypes::NONE { Some(KeySet::EMPTY) } else { allowed };
                Local {
                    allow: allowed.map_or(now.allow, |allowed| (now.allow - AUTOCAST_LAYER) | allowed),
                    low,
                    entered: now.entered_without(entered, entered_before),
                    ..now
                }
            }
            Undo::Nothing => return,
            Undo::Everything(before) => before,
        });
    }
}

/// The sets of one thread, to be taken to another.
///
/// ```
/// use dispatch_runtime::guard::{self, ThreadState};
///
/// let _inference = guard::inference_mode();
/// let state = ThreadState::capture();
/// let worker = std::thread::spawn(move || state.run(guard::is_inference_mode));
/// assert!(worker.join().unwrap());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ThreadState {
    local: Local,
}

impl ThreadState {
    /// The state of this thread.
    ///
    /// ```
    /// let state = dispatch_runtime::guard::ThreadState::capture();
    /// ```
    #[inline]
    #[must_use]
    pub fn capture() -> Self {
        Self { local: LOCAL.get() }
    }

    /// Takes this state on until the guard is dropped, which must be after every guard that was made under it.
    ///
    /// ```
    /// # use dispatch_runtime::guard::{self, ThreadState};
    /// let outside = ThreadState::capture();
    /// let _inference = guard::inference_mode();
    /// let _outside_again = outside.enter();
    /// assert!(!guard::is_inference_mode());
    /// ```
    pub fn enter(self) -> Guard {
        Guard { undo: Undo::Everything(LOCAL.replace(self.local)), not_send: PhantomData }
    }

    /// Runs `f` in this state: what a job on a pool of threads, such as rayon's, is wrapped in.
    ///
    /// ```
    /// # use dispatch_runtime::guard::{self, ThreadState};
    /// let outside = ThreadState::capture();
    /// let _inference = guard::inference_mode();
    /// assert!(!outside.run(guard::is_inference_mode));
    /// ```
    pub fn run<R>(self, f: impl FnOnce() -> R) -> R {
        let _state = self.enter();
        f()
    }
}

/// Starts a thread that inherits this thread's guards, which a plain `std::thread::spawn` does not.
///
/// ```
/// use dispatch_runtime::guard;
/// let _inference = guard::inference_mode();
/// assert!(guard::spawn(guard::is_inference_mode).join().unwrap());
/// ```
pub fn spawn<R: Send + 'static>(f: impl FnOnce() -> R + Send + 'static) -> std::thread::JoinHandle<R> {
    let state = ThreadState::capture();
    std::thread::spawn(move || state.run(f))
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
    fn an_inner_guard_for_the_same_layer_leaves_it_to_the_outer_one() {
        let outer = exclude(KeySet::from(Tracer));
        drop(exclude(KeySet::from(Tracer)));
        assert!(excluded().has(Tracer));
        drop(outer);
        assert!(!excluded().has(Tracer));
    }

    #[test]
    fn excluding_a_key_keeps_its_backend() {
        let _no_sparse = exclude(KeySet::from(SparseCUDA));
        assert_eq!(call_keys(KeySet::from(CUDA)) & KeySet::from(CUDA), KeySet::from(CUDA));
    }

    #[test]
    fn exclude_beats_include() {
        let _tracing = include(KeySet::from(Tracer));
        let _not_here = exclude(KeySet::from(Tracer));
        assert!(!call_keys(KeySet::from(CPU)).has(Tracer));
    }

    #[test]
    fn another_thread_starts_with_the_defaults() {
        let _inference = inference_mode();
        assert!(!std::thread::spawn(is_inference_mode).join().unwrap());
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

    #[test]
    fn grad_mode_nests_and_travels() {
        let outer = no_grad();
        let inner = enable_grad();
        assert!(is_grad_enabled());
        drop(no_grad());
        assert!(is_grad_enabled());
        drop(inner);
        assert!(!is_grad_enabled());
        assert!(!spawn(is_grad_enabled).join().unwrap());
        assert!(std::thread::spawn(is_grad_enabled).join().unwrap());
        drop(outer);
        assert!(is_grad_enabled());
    }

    #[test]
    fn autocast_is_on_while_some_backend_has_it_on() {
        let [cpu, cuda] = [Device::CPU, Device::new(CUDA).unwrap()];
        let is_on = || !excluded().has(Autocast);
        let first = autocast(cpu, Some(DType::BF16));
        let second = autocast(cuda, Some(DType::F16));
        drop(first);
        assert!(is_on() && autocast_dtype(cpu).is_none());
        {
            let _not_here = autocast(cuda, None);
            assert!(!is_on());
            let _here_again = autocast(cuda, Some(DType::BF16));
            assert!(is_on());
        }
        assert!(is_on());
        drop(second);
        assert!(!is_on());
    }

    #[test]
    fn autocast_that_was_excluded_is_excluded_again_after_it_was_on() {
        let on = autocast(Device::CPU, Some(DType::BF16));
        let excluding = exclude(KeySet::layers_of(Autocast));
        drop(autocast(Device::CPU, None));
        assert!(excluded().has(Autocast));
        drop(autocast(Device::CPU, Some(DType::F16)));
        assert!(excluded().has(Autocast));
        drop(excluding);
        assert!(!excluded().has(Autocast));
        drop(on);
        assert!(excluded().has(Autocast));
    }

    #[test]
    fn autocast_travels_with_its_dtype() {
        let _on = autocast(Device::CPU, Some(DType::F16));
        assert_eq!(spawn(|| autocast_dtype(Device::CPU)).join().unwrap(), Some(DType::F16));
        assert_eq!(std::thread::spawn(|| autocast_dtype(Device::CPU)).join().unwrap(), None);
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

        #[test]
        fn nested_guards_leave_no_trace(changes in prop::collection::vec((any::<u64>(), any::<bool>()), 0..8)) {
            let before = (included(), excluded());
            let mut guards = Vec::new();
            for (bits, adds) in changes {
                let keys = KeySet::from_bits(bits);
                guards.push(if adds { include(keys) } else { exclude(keys) });
            }
            while guards.pop().is_some() {}
            prop_assert_eq!((included(), excluded()), before);
        }
    }
}
