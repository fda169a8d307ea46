//! The atomics that loom can replace, so that `RUSTFLAGS="--cfg loom"` runs its models over the real code.

#[cfg(loom)]
pub(crate) use loom::{
    cell::UnsafeCell,
    sync::atomic::{AtomicUsize, Ordering},
};
#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{AtomicUsize, Ordering};

/// How an operator's table is published, and read. A kernel is taken away after the next table was published, or none: who finds it
/// gone finds that. The models in `retirable.rs` use the same two.
pub(crate) const PUBLISH: Ordering = Ordering::Release;
/// See [`PUBLISH`].
pub(crate) const READ: Ordering = Ordering::Acquire;

/// The standard cell, with loom's way of reaching into it.
#[cfg(not(loom))]
pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

#[cfg(not(loom))]
impl<T> UnsafeCell<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(std::cell::UnsafeCell::new(value))
    }

    #[inline(always)]
    pub(crate) fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        f(self.0.get())
    }

    #[inline(always)]
    pub(crate) fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        f(self.0.get())
    }
}
