//! Whether what somebody found out about an operator still holds.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::Operator;

/// A state of the registrations: it changes when kernels or fallbacks are added or removed after a call has used them.
///
/// A cache of what follows from a table keeps [`Operator::edition`] beside it, asked for *before*, and looks again if that has changed.
/// Rules are not part of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edition(usize);

impl Edition {
    pub(crate) fn now() -> Self {
        Self(CHANGES.load(Ordering::Acquire))
    }
}

impl Operator {
    /// The present edition; none where the operator cannot be called, because it has no definition or several.
    ///
    /// ```
    /// use dispatch_runtime::{Registrar, keys::CPU};
    ///
    /// let lab = Registrar::new("editions");
    /// let id = lab.define("id(Tensor x) -> Tensor").unwrap().operator().unwrap();
    /// let before = id.edition();
    /// assert!(before.is_some() && id.edition() == before);
    /// lab.kernel("id", CPU, |_, _, _| Ok(())).unwrap().remove();
    /// assert_ne!(id.edition(), before);
    /// ```
    #[must_use]
    pub fn edition(&self) -> Option<Edition> {
        self.bound_table().ok().map(|_| Edition::now())
    }
}

/// How often a table was taken from an operator.
static CHANGES: AtomicUsize = AtomicUsize::new(0);

/// Comes after an operator has lost its table.
pub(crate) fn change() {
    CHANGES.fetch_add(1, Ordering::Release);
}
