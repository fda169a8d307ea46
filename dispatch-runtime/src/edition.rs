//! Whether what somebody found out about an operator still holds.

use crate::operator::Operator;

/// What an operator's table was made of: another one after kernels for it, or fallbacks for all, have come or gone.
///
/// Whoever remembers what follows from a table remembers [`Operator::edition`] beside it, asked for *before*, and looks again where that
/// has changed. Rules are not part of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edition(usize);

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
        // A table is never freed, so no other one is ever at its place.
        self.bound_table().ok().map(|table| Edition(std::ptr::from_ref(table).addr()))
    }
}
