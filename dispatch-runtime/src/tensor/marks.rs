//! What a tensor is marked with.
//!
//! A fallback that is `marked` has nothing to do before the first tensor has one of its marks, so until then no table has it: a program
//! that never asks for a gradient calls its operators as if autograd were not linked. The first such tensor makes every operator bind
//! anew.

use std::ops::BitOr;
use std::sync::atomic::{AtomicU8, Ordering};

use super::Tensor;

/// What layers want to know about a tensor without a lock: one bit each.
///
/// ```
/// use dispatch_runtime::{Marks, Tensor};
///
/// let t = Tensor::from_slice(&[1.0_f32]);
/// t.mark(Marks::REQUIRES_GRAD);
/// assert!(t.clone().has_any(Marks::REQUIRES_GRAD | Marks::VIEW));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Marks(u8);

impl Marks {
    /// Autograd records what is computed from it.
    pub const REQUIRES_GRAD: Self = Self(1);
    /// It was made in [`inference_mode`](crate::guard::inference_mode).
    pub const INFERENCE: Self = Self(1 << 1);
    pub(super) const NUMBER: Self = Self(1 << 2);
    /// Autograd knows it as a view of another tensor, whose history is its own.
    pub const VIEW: Self = Self(1 << 3);
    /// It was computed from tensors that require gradients: it is no leaf.
    pub const RECORDED: Self = Self(1 << 4);
    /// The CPU cannot address its memory, so no guard sees what is written there.
    pub const FOREIGN: Self = Self(1 << 5);

    pub(crate) const NONE: Self = Self(0);

    #[inline]
    pub(super) fn of_new(inference: bool) -> Self {
        if inference { Self::INFERENCE } else { Self::NONE }
    }

    pub(super) const fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    pub(super) const fn bits(self) -> u8 {
        self.0
    }

    /// Those of the memory, which all views of it share.
    #[inline]
    pub(super) const fn of_memory(self) -> Self {
        Self(self.0 & (Self::INFERENCE.0 | Self::FOREIGN.0))
    }

    /// Whether there is a common one.
    #[inline]
    #[must_use]
    pub const fn meet(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether `other` has all of them.
    pub(crate) const fn are_among(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    /// Those that no tensor was ever given. Tables need no fallback that is marked with none but them.
    #[inline]
    pub(crate) fn unseen() -> Self {
        Self(UNSEEN.load(Ordering::Acquire))
    }

    /// For the registry, once no table is in use that was made without them.
    pub(crate) fn saw(self) {
        UNSEEN.fetch_and(!self.0, Ordering::Release);
    }
}

/// The marks that tensors are made with need no announcement.
static UNSEEN: AtomicU8 = AtomicU8::new(!(Marks::NUMBER.0 | Marks::INFERENCE.0 | Marks::FOREIGN.0));

impl BitOr for Marks {
    type Output = Self;

    #[inline]
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl Tensor {
    /// Whether this is a plain number, see [`number`](Self::number).
    #[inline]
    #[must_use]
    pub fn is_number(&self) -> bool {
        self.has_any(Marks::NUMBER)
    }

    #[inline]
    pub(super) fn marks_of_memory(&self) -> Marks {
        Marks::from_bits(self.0.marks.load(Ordering::Relaxed)).of_memory()
    }

    /// Whether it carries one of these marks.
    #[inline]
    #[must_use]
    pub fn has_any(&self, marks: Marks) -> bool {
        Marks::from_bits(self.0.marks.load(Ordering::Acquire)).meet(marks)
    }

    /// Sets marks that were announced.
    #[inline]
    pub(crate) fn add_marks(&self, marks: Marks) {
        self.0.marks.fetch_or(marks.bits(), Ordering::Release);
    }

    /// Takes marks away.
    pub fn unmark(&self, marks: Marks) {
        self.0.marks.fetch_and(!marks.bits(), Ordering::Release);
    }

    /// Whether autograd records what is computed from this tensor.
    #[inline]
    #[must_use]
    pub fn requires_grad(&self) -> bool {
        self.has_any(Marks::REQUIRES_GRAD)
    }

    /// Whether the tensor was made in [`guard::inference_mode`](crate::guard::inference_mode): autograd and view tracking do not know it.
    #[inline]
    #[must_use]
    pub fn is_inference(&self) -> bool {
        self.has_any(Marks::INFERENCE)
    }

    /// Whether the tensor was not computed from others that require gradients.
    #[must_use]
    pub fn is_leaf(&self) -> bool {
        !self.has_any(Marks::RECORDED)
    }

    /// Whether autograd knows the tensor as a view of another one.
    #[must_use]
    pub fn is_view(&self) -> bool {
        self.has_any(Marks::VIEW)
    }
}
