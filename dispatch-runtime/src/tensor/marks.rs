//! Marks: properties of a tensor that layers read without a lock.
//!
//! A `marked` fallback has nothing to do before a tensor has one of its marks, so until then no table contains it. A program that never
//! requires gradients calls its operators as if autograd were not linked. The first tensor with such a mark makes every operator build its
//! table again.

use std::ops::BitOr;
use std::sync::atomic::{AtomicU8, Ordering};

use super::Tensor;

/// A set of marks of a tensor, one bit each.
///
/// ```
/// use dispatch_runtime::{Marks, Tensor};
///
/// let t = Tensor::from_slice(&[1.0_f32]);
/// t.mark(Marks::REQUIRES_GRAD);
/// assert!(t.clone().has_any_mark(Marks::REQUIRES_GRAD | Marks::VIEW));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Marks(u8);

impl Marks {
    /// The mark of a tensor that requires gradients: autograd records the operators that are called with it.
    pub const REQUIRES_GRAD: Self = Self(1);
    /// The mark of a tensor that was created in [`inference_mode`](crate::guard::inference_mode).
    pub const INFERENCE: Self = Self(1 << 1);
    /// The mark of a tensor that stands for a plain number.
    pub(super) const NUMBER: Self = Self(1 << 2);
    /// The mark of a tensor that autograd tracks as a view of another tensor, whose history it shares.
    pub const VIEW: Self = Self(1 << 3);
    /// The mark of a tensor that was computed from tensors that require gradients, so it is no leaf.
    pub const RECORDED: Self = Self(1 << 4);
    /// The mark of a tensor whose elements the CPU cannot reach, so no guard counts writes to them.
    pub const NOT_ON_HOST: Self = Self(1 << 5);

    pub(crate) const NONE: Self = Self(0);

    #[inline]
    pub(super) fn for_new_tensor(inference: bool) -> Self {
        if inference { Self::INFERENCE } else { Self::NONE }
    }

    pub(super) const fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    pub(super) const fn bits(self) -> u8 {
        self.0
    }

    /// Returns the marks that views of the tensor inherit, because they describe the memory.
    #[inline]
    pub(super) const fn inherited_by_views(self) -> Self {
        Self(self.0 & (Self::INFERENCE.0 | Self::NOT_ON_HOST.0))
    }

    /// Returns whether the sets have a mark in common.
    #[inline]
    #[must_use]
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns whether `other` has all marks of this set.
    pub(crate) const fn is_subset_of(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    /// Returns the marks that no tensor has had yet. Tables need no fallback that is marked only with these.
    #[inline]
    pub(crate) fn never_set() -> Self {
        Self(NEVER_SET.load(Ordering::Acquire))
    }

    /// Records that tensors may have these marks. The registry calls it once no table without their fallbacks is in use.
    pub(crate) fn record_as_set(self) {
        NEVER_SET.fetch_and(!self.0, Ordering::Release);
    }
}

/// The marks that no tensor has had yet. Marks that tensors are created with are never among them.
static NEVER_SET: AtomicU8 = AtomicU8::new(!(Marks::NUMBER.0 | Marks::INFERENCE.0 | Marks::NOT_ON_HOST.0));

impl BitOr for Marks {
    type Output = Self;

    #[inline]
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl Tensor {
    /// Returns whether the tensor stands for a plain number, see [`number`](Self::number).
    #[inline]
    #[must_use]
    pub fn is_number(&self) -> bool {
        self.has_any_mark(Marks::NUMBER)
    }

    #[inline]
    pub(super) fn marks_for_views(&self) -> Marks {
        Marks::from_bits(self.0.marks.load(Ordering::Relaxed)).inherited_by_views()
    }

    /// Returns whether the tensor has one of these marks.
    #[inline]
    #[must_use]
    pub fn has_any_mark(&self, marks: Marks) -> bool {
        Marks::from_bits(self.0.marks.load(Ordering::Acquire)).intersects(marks)
    }

    /// Sets marks of the tensor, which all its handles share. The caller has called `unbind_before_first_use` for them.
    #[inline]
    pub(crate) fn store_marks(&self, marks: Marks) {
        self.0.marks.fetch_or(marks.bits(), Ordering::Release);
    }

    /// Removes marks of the tensor, which all its handles share.
    pub fn unmark(&self, marks: Marks) {
        self.0.marks.fetch_and(!marks.bits(), Ordering::Release);
    }

    /// Returns whether autograd records the operators that are called with this tensor.
    #[inline]
    #[must_use]
    pub fn requires_grad(&self) -> bool {
        self.has_any_mark(Marks::REQUIRES_GRAD)
    }

    /// Returns whether the tensor was created in [`guard::inference_mode`](crate::guard::inference_mode): autograd and view tracking ignore
    /// it.
    #[inline]
    #[must_use]
    pub fn is_inference(&self) -> bool {
        self.has_any_mark(Marks::INFERENCE)
    }

    /// Returns whether the tensor is a leaf: it was not computed from tensors that require gradients.
    #[must_use]
    pub fn is_leaf(&self) -> bool {
        !self.has_any_mark(Marks::RECORDED)
    }

    /// Returns whether autograd tracks the tensor as a view of another one.
    #[must_use]
    pub fn is_view(&self) -> bool {
        self.has_any_mark(Marks::VIEW)
    }
}
