//! Atomics and cells that loom replaces, so that `RUSTFLAGS="--cfg loom"` runs its models over the real code.

#[cfg(loom)]
pub(crate) use loom::{
    cell::UnsafeCell,
    sync::atomic::{AtomicUsize, Ordering},
};
#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{AtomicUsize, Ordering};

/// The ordering for publishing an operator's table. A kernel is removed only after the next table, or the unbound one, was published. So a
/// caller that finds the kernel removed also sees the new table. The models in `retirable.rs` use this ordering and [`READ_ORDERING`].
pub(crate) const PUBLISH_ORDERING: Ordering = Ordering::Release;
/// The ordering for reading an operator's table. See [`PUBLISH_ORDERING`].
pub(crate) const READ_ORDERING: Ordering = Ordering::Acquire;

/// The standard `UnsafeCell`, with the access methods of loom's.
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
