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
pub(crate) struct Scope {
    pub(crate) mode: Arc<dyn Mode>,
    /// The number of function transforms inside of which the mode was entered. It sees the calls of that level.
    level: usize,
    over: AtomicBool,
}

impl Scope {
    fn is_on(&self) -> bool {
        !self.over.load(Ordering::Acquire)
    }
}

/// A list of modes, the innermost last.
#[derive(Clone)]
pub(crate) struct Modes {
    all: Arc<[Arc<Scope>]>,
    count: usize,
}

thread_local! {
    static CURRENT: RefCell<Modes> = RefCell::new([].into_iter().collect());
    /// The guards that include the key `PreDispatch` on this thread: one entry for each scope that was entered here, in order. The guard is
    /// `None` if the key was included already.
    static INCLUDED: RefCell<Vec<(Arc<Scope>, Option<Guard>)>> = const { RefCell::new(Vec::new()) };
}

impl Modes {
    /// Returns the modes that see this thread's calls.
    pub(crate) fn current() -> Self {
        CURRENT.with_borrow(Self::clone)
    }

    /// Returns the innermost mode that sees calls of the current transform level, and the modes below it.
    pub(crate) fn innermost(&self) -> Option<(Arc<Scope>, Self)> {
        let level = dispatch_transform::depth();
        let concerned = |scope: &Arc<Scope>| scope.is_on() && scope.level == level;
        let at = self.on().iter().rposition(concerned)?;
        Some((self.all[at].clone(), Self { all: self.all.clone(), count: at }))
    }

    /// Returns the active modes without `scope`.
    pub(crate) fn without(&self, scope: &Arc<Scope>) -> Self {
        self.on().iter().filter(|other| !Arc::ptr_eq(scope, other)).cloned().collect()
    }

    fn on(&self) -> &[Arc<Scope>] {
        self.all.get(..self.count).unwrap_or_default()
    }

    /// Makes these the modes that see this thread's calls, until the result is dropped.
    pub(crate) fn set(self) -> Restore {
        Restore(Some(CURRENT.replace(self)))
    }
}

impl FromIterator<Arc<Scope>> for Modes {
    fn from_iter<I: IntoIterator<Item = Arc<Scope>>>(scopes: I) -> Self {
        let all: Arc<[Arc<Scope>]> = scopes.into_iter().collect();
        Self { count: all.len(), all }
    }
}

/// A guard that restores the thread's previous modes when it is dropped, during a panic too.
pub(crate) struct Restore(Option<Modes>);

impl Drop for Restore {
    fn drop(&mut self) {
        drop(self.0.take().map(|modes| CURRENT.replace(modes)));
    }
}

/// Switches a mode on for this thread, until the result is dropped. The result dereferences to the mode.
///
/// Modes can be left in any order. If a mode enters another mode while it handles a call, the latter ends with that call at the latest.
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
pub fn enter<M: Mode + 'static>(mode: M) -> Entered<M> {
    static FIRST: Once = Once::new();
    FIRST.call_once(|| {
        guard::register_inherited_state(pack);
        on_span(tell);
    });
    let mode = Arc::new(mode);
    let scope =
        Arc::new(Scope { mode: mode.clone(), level: dispatch_transform::depth(), over: AtomicBool::new(false) });
    let modes = CURRENT.with_borrow(|modes| modes.on().iter().cloned().chain([scope.clone()]).collect());
    // The drop of the old list may drop a mode, which may call operators. It must not happen while the cell is borrowed.
    drop(CURRENT.replace(modes));
    let include = (!guard::included().has(keys::PreDispatch)).then(|| guard::include(KeySet::from(keys::PreDispatch)));
    INCLUDED.with_borrow_mut(|included| included.push((scope.clone(), include)));
    Entered { mode, scope, not_send: PhantomData }
}

/// Runs `f` with the mode on.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_modes::{Print, with};
/// use dispatch_runtime::Tensor;
///
/// let y = with(Print::new(), || Tensor::from([1.0, 2.0]).exp()?.sum()).unwrap();
/// ```
pub fn with<R>(mode: impl Mode + 'static, f: impl FnOnce() -> R) -> R {
    let _on = enter(mode);
    f()
}

/// A guard that keeps a mode on while it lives; the result of [`enter`].
#[must_use = "a mode that is not bound to a name is left at once"]
pub struct Entered<M> {
    mode: Arc<M>,
    scope: Arc<Scope>,
    /// Makes the guard `!Send`: the mode is on for this thread.
    not_send: PhantomData<*const ()>,
}

impl<M> Deref for Entered<M> {
    type Target = M;

    fn deref(&self) -> &M {
        &self.mode
    }
}

impl<M> Drop for Entered<M> {
    fn drop(&mut self) {
        self.scope.over.store(true, Ordering::Release);
        drop(CURRENT.replace(Modes::current().without(&self.scope)));
        let left = INCLUDED.with_borrow_mut(|included| {
            let at = included.iter().position(|(scope, _)| Arc::ptr_eq(scope, &self.scope))?;
            let (_, include) = included.remove(at);
            match included.get_mut(at) {
                // A scope that was entered later relies on this guard, so it becomes the owner.
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

/// Packs the modes of this thread for a thread that it starts. Modes inside of a transformed function stay behind, as the function does.
fn pack() -> InstallState {
    let modes: Modes = Modes::current().on().iter().filter(|scope| scope.level == 0).cloned().collect();
    Box::new(move || Box::new(modes.set()) as Box<dyn Any>)
}

/// Tells the thread's modes of a span. The span ends for the innermost mode first.
fn tell(name: &dyn Display) -> Box<dyn Any> {
    let modes = Modes::current();
    let on = modes.on().iter().filter(|scope| scope.is_on());
    let mut open: Vec<Box<dyn Any>> = on.map(|scope| scope.mode.on_span(name)).collect();
    open.reverse();
    Box::new(open)
}
