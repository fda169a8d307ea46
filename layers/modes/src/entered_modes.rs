//! The active modes of each thread.
//!
//! A thread's modes are an immutable list and a count of those that are active: a mode that handles a call lowers the count to the modes
//! below it, and entering a mode makes a new list. So a call remembers the modes under which it was made in two words, and another thread
//! can inherit them.

use std::any::Any;
use std::cell::RefCell;
use std::fmt::Display;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once};

use dispatch_runtime::guard::{self, Guard, InstallState};
use dispatch_runtime::{KeySet, keys, on_span};

use crate::mode::Mode;

/// A mode that was entered.
pub(crate) struct EnteredMode {
    pub(crate) mode: Arc<dyn Mode>,
    /// The number of function transforms inside of which the mode was entered. It sees the calls of that level.
    level: usize,
    ended: AtomicBool,
}

impl EnteredMode {
    fn is_active(&self) -> bool {
        !self.ended.load(Ordering::Acquire)
    }
}

/// A list of modes, the innermost last.
#[derive(Clone)]
pub(crate) struct ModeList {
    all: Arc<[Arc<EnteredMode>]>,
    count: usize,
}

thread_local! {
    static CURRENT_MODES: RefCell<ModeList> = RefCell::new([].into_iter().collect());
    /// The guards that include the key `PreDispatch` on this thread: one entry for each mode that was entered here, in order. The guard is
    /// `None` if the key was included already.
    static KEY_GUARDS: RefCell<Vec<(Arc<EnteredMode>, Option<Guard>)>> = const { RefCell::new(Vec::new()) };
}

impl ModeList {
    /// Returns the modes that see this thread's calls.
    pub(crate) fn current() -> Self {
        CURRENT_MODES.with_borrow(Self::clone)
    }

    /// Returns the innermost mode that sees calls of the current transform level, and the modes below it.
    pub(crate) fn innermost(&self) -> Option<(Arc<EnteredMode>, Self)> {
        let level = dispatch_transform::depth();
        let sees_level = |entered: &Arc<EnteredMode>| entered.is_active() && entered.level == level;
        let at = self.listed_modes().iter().rposition(sees_level)?;
        Some((self.all[at].clone(), Self { all: self.all.clone(), count: at }))
    }

    /// Returns the list without the mode `entered`.
    pub(crate) fn without_mode(&self, entered: &Arc<EnteredMode>) -> Self {
        self.listed_modes().iter().filter(|other| !Arc::ptr_eq(entered, other)).cloned().collect()
    }

    fn listed_modes(&self) -> &[Arc<EnteredMode>] {
        self.all.get(..self.count).unwrap_or_default()
    }

    /// Makes these the modes that see this thread's calls, until the returned guard is dropped.
    pub(crate) fn make_current(self) -> RestoreModesGuard {
        RestoreModesGuard(Some(CURRENT_MODES.replace(self)))
    }
}

impl FromIterator<Arc<EnteredMode>> for ModeList {
    fn from_iter<I: IntoIterator<Item = Arc<EnteredMode>>>(modes: I) -> Self {
        let all: Arc<[Arc<EnteredMode>]> = modes.into_iter().collect();
        Self { count: all.len(), all }
    }
}

/// A guard that restores the thread's previous modes when it is dropped, during a panic too.
pub(crate) struct RestoreModesGuard(Option<ModeList>);

impl Drop for RestoreModesGuard {
    fn drop(&mut self) {
        drop(self.0.take().map(|modes| CURRENT_MODES.replace(modes)));
    }
}

/// Switches a mode on for this thread, until the returned guard is dropped. The result dereferences to the mode.
///
/// Modes can be left in any order. If a mode enters another mode while it handles a call, the inner mode ends with that call at the latest.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_modes::{Flops, enter};
/// use dispatch_runtime::Tensor;
///
/// let flops = enter(Flops::new());
/// Tensor::from([1.0, 2.0]).exp().unwrap();
/// assert_eq!(flops.total(), 2);
/// ```
pub fn enter<M: Mode + 'static>(mode: M) -> ModeGuard<M> {
    static REGISTER_ONCE: Once = Once::new();
    REGISTER_ONCE.call_once(|| {
        guard::register_inherited_state(capture_modes);
        on_span(notify_span);
    });
    let mode = Arc::new(mode);
    let entered =
        Arc::new(EnteredMode { mode: mode.clone(), level: dispatch_transform::depth(), ended: AtomicBool::new(false) });
    let modes =
        CURRENT_MODES.with_borrow(|modes| modes.listed_modes().iter().cloned().chain([entered.clone()]).collect());
    // The drop of the old list may drop a mode, which may call operators. It must not happen while the cell is borrowed.
    drop(CURRENT_MODES.replace(modes));
    let include = (!guard::included().has(keys::PreDispatch)).then(|| guard::include(KeySet::from(keys::PreDispatch)));
    KEY_GUARDS.with_borrow_mut(|included| included.push((entered.clone(), include)));
    ModeGuard { mode, entered, not_send: PhantomData }
}

/// Runs `f` with the mode on.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_modes::{Print, with_mode};
/// use dispatch_runtime::Tensor;
///
/// let y = with_mode(Print::new(), || Tensor::from([1.0, 2.0]).exp()?.sum()).unwrap();
/// ```
pub fn with_mode<R>(mode: impl Mode + 'static, f: impl FnOnce() -> R) -> R {
    let _on = enter(mode);
    f()
}

/// A guard that keeps a mode on while it lives; the result of [`enter`].
#[must_use = "a mode that is not bound to a name is left at once"]
pub struct ModeGuard<M> {
    mode: Arc<M>,
    entered: Arc<EnteredMode>,
    /// Makes the guard `!Send`: the mode is on for this thread.
    not_send: PhantomData<*const ()>,
}

impl<M> Deref for ModeGuard<M> {
    type Target = M;

    fn deref(&self) -> &M {
        &self.mode
    }
}

impl<M> Drop for ModeGuard<M> {
    fn drop(&mut self) {
        self.entered.ended.store(true, Ordering::Release);
        drop(CURRENT_MODES.replace(ModeList::current().without_mode(&self.entered)));
        let left = KEY_GUARDS.with_borrow_mut(|included| {
            let at = included.iter().position(|(entered, _)| Arc::ptr_eq(entered, &self.entered))?;
            let (_, include) = included.remove(at);
            match included.get_mut(at) {
                // A mode that was entered later relies on this guard, so it becomes the owner.
                Some((_, later @ None)) => {
                    *later = include;
                    None
                }
                _ => include,
            }
        });
        drop(left);
    }
}

/// Captures the modes of this thread for a thread that it starts. Modes inside of a transformed function stay behind, as the function does.
fn capture_modes() -> InstallState {
    let modes: ModeList =
        ModeList::current().listed_modes().iter().filter(|entered| entered.level == 0).cloned().collect();
    Box::new(move || Box::new(modes.make_current()) as Box<dyn Any>)
}

/// Reports the start of a span to the modes of this thread. The span ends for the innermost mode first.
fn notify_span(name: &dyn Display) -> Box<dyn Any> {
    let modes = ModeList::current();
    let on = modes.listed_modes().iter().filter(|entered| entered.is_active());
    let mut open: Vec<Box<dyn Any>> = on.map(|entered| entered.mode.on_span(name)).collect();
    open.reverse();
    Box::new(open)
}
