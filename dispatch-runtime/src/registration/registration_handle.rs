//! Handles of registrations that were made at run time.

use std::sync::Arc;

use super::listener::{self, OperatorEvent};
use super::registry;
use crate::key::{Slot, SlotOrAlias};
use crate::name::Name;
use crate::operator::{BoxedKernel, Operator};
use crate::table::RegistrationSource;

/// A registration that was made at run time. Dropping the handle does not remove it.
#[derive(Debug)]
#[must_use = "keep it to remove the registration later, or drop it explicitly"]
pub struct Registration(pub(crate) RegistrationKind);

#[derive(Debug)]
pub(crate) enum RegistrationKind {
    Operator(&'static Operator),
    Kernel { operator: Name<'static>, target: SlotOrAlias, source: RegistrationSource },
    Fallback { slot: Slot, source: RegistrationSource },
    Listener(u64),
}

/// A handle that removes its registration when it goes out of scope.
#[derive(Debug)]
pub struct ScopedRegistration(Option<Registration>);

impl Registration {
    /// Returns the operator, if this is the registration of a definition.
    #[must_use]
    pub const fn operator(&self) -> Option<&'static Operator> {
        if let RegistrationKind::Operator(operator) = self.0 { Some(operator) } else { None }
    }

    /// Removes the registration. Running calls of a kernel finish, and the last one drops the kernel's state.
    pub fn remove(self) {
        match self.0 {
            RegistrationKind::Operator(operator) => {
                registry::lock().remove_definition(operator);
                listener::notify_listeners(OperatorEvent::Removed, operator);
            }
            RegistrationKind::Kernel { operator, target, source } => {
                let removed = registry::lock().remove_kernel(operator, target, source);
                retire_kernel(removed);
            }
            RegistrationKind::Fallback { slot, source } => {
                let removed = registry::lock().remove_fallback(slot, source);
                retire_kernel(removed);
            }
            RegistrationKind::Listener(id) => listener::remove_listener(id),
        }
    }

    /// Returns a handle that removes the registration when it is dropped.
    #[must_use = "the registration is removed when this is dropped"]
    pub const fn scoped(self) -> ScopedRegistration {
        ScopedRegistration(Some(self))
    }
}

impl Drop for ScopedRegistration {
    fn drop(&mut self) {
        if let Some(registration) = self.0.take() {
            registration.remove();
        }
    }
}

/// Runs `listener` for all existing operators, and from then on for every operator that is defined or removed.
///
/// No lock is held while listeners run. If several threads or listeners change one name at once, a listener may see the changes in another
/// order. A listener that tracks the existing operators calls [`Operator::find`] for the name that it is given.
///
/// ```
/// use dispatch_runtime::{Registrar, on_operator_event};
/// use std::sync::{Arc, atomic::{AtomicUsize, Ordering}};
///
/// let seen = Arc::new(AtomicUsize::new(0));
/// let listening = on_operator_event({ let seen = seen.clone(); move |_, _| { seen.fetch_add(1, Ordering::Relaxed); } });
/// let before = seen.load(Ordering::Relaxed);
/// let scoped = Registrar::new("heard").define("of() -> ()").unwrap().scoped();
/// drop(scoped);
/// assert_eq!(seen.load(Ordering::Relaxed), before + 2);
/// listening.remove();
/// ```
pub fn on_operator_event(listener: impl Fn(OperatorEvent, &'static Operator) + Send + Sync + 'static) -> Registration {
    Registration(RegistrationKind::Listener(listener::add_listener(&(Arc::new(listener) as _))))
}

fn retire_kernel(removed: Option<BoxedKernel>) {
    if let Some(kernel) = removed {
        kernel.retire();
    }
}
