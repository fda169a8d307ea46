//! Setting marks on tensors, and the update of tables before the first tensor gets a mark.
//!
//! Tables do not contain the fallbacks for marks that no tensor has had yet. So all operators are unbound before the
//! first tensor gets a mark.

use super::registry;
use crate::table::OperatorRow;
use crate::tensor::{Marks, Tensor};

impl Marks {
    /// Unbinds all operators if no tensor has had one of these marks yet, so that their new tables contain the fallbacks for it. Call this
    /// before a tensor gets the marks.
    #[inline]
    pub(crate) fn unbind_before_first_use(self) {
        if self.intersects(Self::never_set()) {
            unbind_all_for_new_marks(self);
        }
    }
}

impl Tensor {
    /// Sets marks on the tensor, for all of its handles. Layers call this; they define the meaning of the marks.
    #[inline]
    pub fn mark(&self, marks: Marks) {
        marks.unbind_before_first_use();
        self.store_marks(marks);
    }

    /// Makes a new tensor a view of `base`, which it keeps alive. The layer that tracks views calls this. Returns false if the tensor has
    /// other handles or a base already.
    ///
    /// ```
    /// use dispatch_runtime::Tensor;
    ///
    /// let base = Tensor::from_slice(&[1.0_f32]);
    /// let mut view = base.restride(base.geometry().clone()).unwrap();
    /// assert!(view.make_view_of(&base) && view.is_view());
    /// assert!(view.base().unwrap().same(&base));
    /// ```
    #[inline]
    pub fn make_view_of(&mut self, base: &Self) -> bool {
        self.set_base(base, || Marks::VIEW.unbind_before_first_use())
    }
}

/// Unbinds all operators before the first tensor gets these marks. New tables then contain the fallbacks for the marks.
#[cold]
pub(crate) fn unbind_all_for_new_marks(marks: Marks) {
    let registry = registry::lock();
    if marks.intersects(Marks::never_set()) {
        registry.rows.iter().for_each(OperatorRow::unbind_definitions);
        marks.record_as_set();
    }
}
