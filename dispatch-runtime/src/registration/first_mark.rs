//! Marking a tensor.
//!
//! Tables do not have the fallbacks of marks that no tensor has had yet. So a mark is announced to the registry before the first tensor
//! gets it.

use super::registry;
use crate::table::Row;
use crate::tensor::{Marks, Tensor};

impl Marks {
    /// Comes before a tensor is given them.
    #[inline]
    pub(crate) fn announce(self) {
        if self.meet(Self::unseen()) {
            wake(self);
        }
    }
}

impl Tensor {
    /// Sets marks, on all handles at once. For layers, which know what the marks stand for.
    #[inline]
    pub fn mark(&self, marks: Marks) {
        marks.announce();
        self.add_marks(marks);
    }

    /// Makes a fresh tensor a view of `base`, which lives as long. For the layer that follows views; false where it has other handles
    /// already, or a base.
    ///
    /// ```
    /// use dispatch_runtime::Tensor;
    ///
    /// let base = Tensor::from_slice(&[1.0_f32]);
    /// let mut view = base.restride(base.geometry().clone()).unwrap();
    /// assert!(view.tie_to(&base) && view.is_view());
    /// assert!(view.base().unwrap().same(&base));
    /// ```
    #[inline]
    pub fn tie_to(&mut self, base: &Self) -> bool {
        self.set_base(base, || Marks::VIEW.announce())
    }
}

/// Comes before the first tensor is given these marks: from now on, tables have the fallbacks that they concern.
#[cold]
pub(crate) fn wake(marks: Marks) {
    let registry = registry::lock();
    if marks.meet(Marks::unseen()) {
        registry.rows.iter().for_each(Row::unbind);
        marks.saw();
    }
}
