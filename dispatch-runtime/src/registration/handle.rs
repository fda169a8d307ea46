//! What was registered while the program runs, to be removed again.

use std::sync::Arc;

use super::listener::{self, Change};
use super::registry;
use crate::key::{Slot, Target};
use crate::name::Name;
use crate::operator::{BoxedKernel, Operator};
use crate::table::Source;

/// Something that was registered while the program runs. Dropping it leaves it registered.
#[derive(Debug)]
#[must_use = "keep it to remove the registration later, or drop it explicitly"]
pub struct Registration(pub(crate) What);

#[derive(Debug)]
pub(crate) enum What {
    Operator(&'static Operator),
    Kernel { operator: Name<'static>, target: Target, source: Source },
    Fallback { slot: Slot, source: Source },
    Listener(u64),
}

/// A registration that is removed when this goes out of scope.
#[derive(Debug)]
pub struct Scoped(Option<Registration>);

impl Registration {
    /// The operator, if this is the definition of one.
    #[must_use]
    pub const fn operator(&self) -> Option<&'static Operator> {
        if let What::Operator(operator) = self.0 { Some(operator) } else { None }
    }

    /// Undoes the registration. Calls that are inside a kernel finish; its state is dropped when the last one leaves.
    pub fn remove(self) {
        match self.0 {
            What::Operator(operator) => {
                registry::lock().undefine(operator);
                listener::tell(Change::Removed, operator);
            }
            What::Kernel { operator, target, source } => {
                let removed = registry::lock().remove_kernel(operator, target, source);
                retire(removed);
            }
            What::Fallback { slot, source } => {
                let removed = registry::lock().remove_fallback(slot, source);
                retire(removed);
            }
            What::Listener(id) => listener::remove(id),
        }
    }

    /// The same registration, for as long as the result lives.
    #[must_use = "the registration is removed when this is dropped"]
    pub const fn scoped(self) -> Scoped {
        Scoped(Some(self))
    }
}

impl Drop for Scoped {
    fn drop(&mut self) {
        if let Some(registration) = self.0.take() {
            registration.remove();
        }
    }
}

/// Runs `listener` for every operator that is defined or removed from now on, and first for all that there are.
///
/// Nothing is locked meanwhile, so what several threads, or other listeners, do to one name at once may be told in another order than it
/// happened. Whoever keeps account of what there is asks [`Operator::find`] when told of a name.
///
/// ```
/// use dispatch_runtime::{Registrar, listen};
/// use std::sync::{Arc, atomic::{AtomicUsize, Ordering}};
///
/// let seen = Arc::new(AtomicUsize::new(0));
/// let listening = listen({ let seen = seen.clone(); move |_, _| { seen.fetch_add(1, Ordering::Relaxed); } });
/// let before = seen.load(Ordering::Relaxed);
/// let scoped = Registrar::new("heard").define("of() -> ()").unwrap().scoped();
/// drop(scoped);
/// assert_eq!(seen.load(Ordering::Relaxed), before + 2);
/// listening.remove();
/// ```
pub fn listen(listener: impl Fn(Change, &'static Operator) + Send + Sync + 'static) -> Registration {
    Registration(What::Listener(listener::add(&(Arc::new(listener) as _))))
}

fn retire(removed: Option<BoxedKernel>) {
    if let Some(kernel) = removed {
        kernel.retire();
    }
}
