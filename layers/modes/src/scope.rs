//! Which modes are on, and who set them aside.
//!
//! The modes of a thread are a list that never changes, and how many of it count: whoever has a call counts those below it alone, and
//! entering makes a new list. So a call remembers the modes of where it was made by two words, and another thread takes them along.

use std::any::Any;
use std::cell::RefCell;
use std::fmt::Display;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once};

use dispatch_runtime::guard::{self, Guard, Unpack};
use dispatch_runtime::{KeySet, keys, on_span};

use crate::mode::Mode;

/// A mode that was entered.
pub(crate) struct Scope {
    pub(crate) mode: Arc<dyn Mode>,
    /// How many transforms of functions it is inside of: their calls are its calls.
    level: usize,
    over: AtomicBool,
}

impl Scope {
    fn is_on(&self) -> bool {
        !self.over.load(Ordering::Acquire)
    }
}

/// Modes, the innermost last.
#[derive(Clone)]
pub(crate) struct Modes {
    all: Arc<[Arc<Scope>]>,
    count: usize,
}

thread_local! {
    static CURRENT: RefCell<Modes> = RefCell::new([].into_iter().collect());
    /// What makes this thread's calls come here: one for every scope that was entered here, in order, but for those that found it so.
    static INCLUDED: RefCell<Vec<(Arc<Scope>, Option<Guard>)>> = const { RefCell::new(Vec::new()) };
}

impl Modes {
    /// Those that see this thread's calls.
    pub(crate) fn current() -> Self {
        CURRENT.with_borrow(Self::clone)
    }

    /// The innermost that sees calls of where the thread is, and those below it.
    pub(crate) fn innermost(&self) -> Option<(Arc<Scope>, Self)> {
        let level = dispatch_transform::depth();
        let concerned = |scope: &Arc<Scope>| scope.is_on() && scope.level == level;
        let at = self.on().iter().rposition(concerned)?;
        Some((self.all[at].clone(), Self { all: self.all.clone(), count: at }))
    }

    /// All but this one.
    pub(crate) fn without(&self, scope: &Arc<Scope>) -> Self {
        self.on().iter().filter(|other| !Arc::ptr_eq(scope, other)).cloned().collect()
    }

    fn on(&self) -> &[Arc<Scope>] {
        self.all.get(..self.count).unwrap_or_default()
    }

    /// Makes them those that see this thread's calls, until the result is dropped.
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

/// Puts back which modes see the thread's calls, during a panic too.
pub(crate) struct Restore(Option<Modes>);

impl Drop for Restore {
    fn drop(&mut self) {
        drop(self.0.take().map(|modes| CURRENT.replace(modes)));
    }
}

/// The mode is on for this thread until the result is dropped, which is the mode in all else.
///
/// Modes can be left in any order. One that is entered by a mode which has a call is over, at the latest, with that call.
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
        guard::take_along(pack);
        on_span(tell);
    });
    let mode = Arc::new(mode);
    let scope =
        Arc::new(Scope { mode: mode.clone(), level: dispatch_transform::depth(), over: AtomicBool::new(false) });
    let modes = CURRENT.with_borrow(|modes| modes.on().iter().cloned().chain([scope.clone()]).collect());
    // What is dropped with the list may be a mode, and call operators: that is not to happen inside of the cell.
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

/// A mode that is on, until this is dropped: [`enter`] gives it.
#[must_use = "a mode that is not bound to a name is left at once"]
pub struct Entered<M> {
    mode: Arc<M>,
    scope: Arc<Scope>,
    /// It is on for its own thread.
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
                // One that was entered later found calls coming here. They are to go on doing so.
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

/// The modes of this thread for one that it starts, but for those of a transformed function, which stays on its thread.
fn pack() -> Unpack {
    let modes: Modes = Modes::current().on().iter().filter(|scope| scope.level == 0).cloned().collect();
    Box::new(move || Box::new(modes.set()) as Box<dyn Any>)
}

/// Tells the thread's modes of a span. It ends for the innermost first.
fn tell(name: &dyn Display) -> Box<dyn Any> {
    let modes = Modes::current();
    let on = modes.on().iter().filter(|scope| scope.is_on());
    let mut open: Vec<Box<dyn Any>> = on.map(|scope| scope.mode.on_span(name)).collect();
    open.reverse();
    Box::new(open)
}
