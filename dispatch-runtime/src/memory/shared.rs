//! Reference-counted pointers to values in blocks of the caching allocator.
//!
//! Every call that creates a tensor creates two of these, one for the tensor's body and one for its storage, and drops them soon after.
//! `Arc` has two costs that these avoid. The system's allocator takes longer than the rest of a small call. And dropping the last handle is
//! an atomic operation, which is not needed if no other handle exists.

use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering, fence};

use super::caching_allocator::{ALIGNMENT, OutOfMemory, SizeClass};

/// A reference-counted handle to a shared value, like `Arc`, whose block is cached and reused when it is freed. It is made for values that
/// calls create and drop.
///
/// ```
/// use dispatch_runtime::Shared;
///
/// let mut first = Shared::new([1, 2]);
/// Shared::get_mut(&mut first).unwrap()[0] = 7;
/// let second = first.clone();
/// assert!(Shared::same(&first, &second) && second[0] == 7);
/// assert!(Shared::get_mut(&mut first).is_none());
/// ```
pub struct Shared<T> {
    inner: NonNull<SharedBlock<T>>,
}

/// The contents of a block: the number of handles and the value. It is aligned to a cache line, so that the bytes after it have the
/// alignment of the block.
#[repr(C, align(64))]
struct SharedBlock<T> {
    handles: AtomicUsize,
    class: SizeClass,
    value: T,
}

// SAFETY: handles in several threads lend `&T`, and the last handle drops the value on any thread.
unsafe impl<T: Send + Sync> Send for Shared<T> {}
// SAFETY: as for `Send`.
unsafe impl<T: Send + Sync> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// Creates the first handle to `value`. If there is no memory for it the process aborts, as with Rust's own collections.
    #[inline(always)]
    #[must_use]
    pub fn new(value: T) -> Self {
        let handle = Self::uninit();
        // SAFETY: the block has room for the value, and nothing else reaches it.
        unsafe { handle.as_ptr().write(value) };
        ManuallyDrop::into_inner(handle)
    }

    /// Returns a mutable reference to the value, if this is the only handle.
    #[inline]
    pub fn get_mut(this: &mut Self) -> Option<&mut T> {
        // SAFETY: the only handle is borrowed for as long as the value is, so nothing else reaches the value.
        Self::is_unique(this).then(|| unsafe { &mut *this.as_ptr() })
    }

    /// Allocates a handle to an uninitialized value, which the caller must write at [`as_ptr`](Self::as_ptr), field by field. So a large
    /// value is not built elsewhere and then copied. The handle must not be dropped before the value is written.
    #[inline(always)]
    pub(crate) fn uninit() -> ManuallyDrop<Self> {
        let class = const {
            assert!(align_of::<T>() <= ALIGNMENT, "blocks are aligned to 64 bytes");
            SizeClass::for_value(size_of::<SharedBlock<T>>())
        };
        let Some(inner) = class.allocate().map(NonNull::cast::<SharedBlock<T>>) else {
            std::alloc::handle_alloc_error(std::alloc::Layout::new::<SharedBlock<T>>())
        };
        // SAFETY: the block is large enough, aligned to 64, and has no other user.
        unsafe {
            (&raw mut (*inner.as_ptr()).handles).write(AtomicUsize::new(1));
            (&raw mut (*inner.as_ptr()).class).write(class);
        }
        ManuallyDrop::new(Self { inner })
    }

    /// Returns the address of the value.
    #[inline(always)]
    pub(crate) fn as_ptr(&self) -> *mut T {
        // SAFETY: a handle keeps the block alive.
        unsafe { &raw mut (*self.inner.as_ptr()).value }
    }

    /// Fails to compile if a block of a value with trailing bytes is wrong.
    pub(crate) const ASSERT_TRAILING_BYTES: () = assert!(
        size_of::<SharedBlock<T>>() == ALIGNMENT,
        "trailing bytes begin after exactly one cache line, so that they never held a value"
    );

    /// Creates a handle to a value that is followed by `bytes` bytes of arbitrary contents in the same block.
    #[inline(always)]
    pub(crate) fn with_trailing_bytes(value: impl FnOnce() -> T, bytes: usize) -> Result<Self, OutOfMemory> {
        const { Self::ASSERT_TRAILING_BYTES };
        let size = bytes.checked_add(size_of::<SharedBlock<T>>());
        let class = size.and_then(SizeClass::for_elements).ok_or(OutOfMemory { size: bytes })?;
        let inner = class.allocate().ok_or(OutOfMemory { size: bytes })?.cast::<SharedBlock<T>>();
        // SAFETY: the block is large enough, aligned to 64, and has no other user.
        unsafe {
            (&raw mut (*inner.as_ptr()).handles).write(AtomicUsize::new(1));
            (&raw mut (*inner.as_ptr()).class).write(class);
            (&raw mut (*inner.as_ptr()).value).write(value());
        }
        Ok(Self { inner })
    }

    /// Returns the address of the bytes after the value.
    #[inline]
    pub(crate) fn trailing_bytes(&self) -> NonNull<u8> {
        // SAFETY: the block begins with a `SharedBlock`, and one past it is still inside the block or its end.
        unsafe { self.inner.add(1).cast() }
    }

    /// Converts the handle into the address of its block.
    pub(crate) fn into_raw(this: Self) -> NonNull<u8> {
        ManuallyDrop::new(this).inner.cast()
    }

    /// Converts the address of a block into a handle.
    ///
    /// # Safety
    ///
    /// [`into_raw`](Self::into_raw) returned the address, and each of its calls gives one handle.
    pub(crate) unsafe fn from_raw(block: NonNull<u8>) -> Self {
        Self { inner: block.cast() }
    }

    /// Returns whether this is the only handle. The actions of dropped handles happen before the actions that follow this check.
    #[inline]
    pub(crate) fn is_unique(this: &Self) -> bool {
        this.handle_counter().load(Ordering::Acquire) == 1
    }

    /// Returns whether both are handles of one value.
    #[inline]
    #[must_use]
    pub fn same(this: &Self, other: &Self) -> bool {
        this.inner == other.inner
    }

    /// Returns the number of handles to the value.
    #[cfg(test)]
    pub(crate) fn handle_count(this: &Self) -> usize {
        this.handle_counter().load(Ordering::Acquire)
    }

    #[inline]
    fn handle_counter(&self) -> &AtomicUsize {
        // SAFETY: a handle keeps the block alive.
        unsafe { &(*self.inner.as_ptr()).handles }
    }

    #[inline(never)]
    fn drop_value(&mut self) {
        // SAFETY: this is the last handle and it is being dropped, so nothing else reaches the value, now or later.
        unsafe {
            let class = (*self.inner.as_ptr()).class;
            std::ptr::drop_in_place(&raw mut (*self.inner.as_ptr()).value);
            class.free(self.inner.cast());
        }
    }
}

impl<T> Clone for Shared<T> {
    #[inline]
    fn clone(&self) -> Self {
        // An overflowing count would free a value that is in use. It takes more handles than fit in memory, unless they are leaked.
        if self.handle_counter().fetch_add(1, Ordering::Relaxed) > isize::MAX as usize {
            std::process::abort();
        }
        Self { inner: self.inner }
    }
}

impl<T> Drop for Shared<T> {
    #[inline]
    fn drop(&mut self) {
        // The only handle can be cloned only through itself, so it need not decrement the count.
        if !Self::is_unique(self) {
            if self.handle_counter().fetch_sub(1, Ordering::Release) != 1 {
                return;
            }
            fence(Ordering::Acquire);
        }
        self.drop_value();
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: a handle keeps the block alive, and only shared references exist until the last handle is dropped.
        unsafe { &(*self.inner.as_ptr()).value }
    }
}

impl<T: fmt::Debug> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// A value with a single owner, which can change it in place until it is shared.
///
/// ```
/// use dispatch_runtime::Unique;
///
/// let mut list = Unique::new(Vec::new());
/// list.push(1);
/// assert_eq!(*list.into_shared(), [1]);
/// ```
pub struct Unique<T>(Shared<T>);

impl<T> Unique<T> {
    /// Creates a value that has no handles yet.
    #[inline(always)]
    #[must_use]
    pub fn new(value: T) -> Self {
        Self(Shared::new(value))
    }

    /// Converts the value into its first handle.
    #[inline]
    #[must_use]
    pub fn into_shared(self) -> Shared<T> {
        self.0
    }
}

impl<T> Deref for Unique<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Unique<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the only handle is inside of this value, which never lends it.
        unsafe { &mut *self.0.as_ptr() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn dropping_the_last_handle_drops_the_value_once() {
        let counter = Arc::new(());
        let first = Shared::new(counter.clone());
        let second = first.clone();
        assert!(!Shared::is_unique(&first) && Shared::same(&first, &second));
        drop(first);
        assert!(Shared::is_unique(&second));
        assert_eq!(Arc::strong_count(&counter), 2);
        drop(second);
        assert_eq!(Arc::strong_count(&counter), 1);
    }

    #[test]
    fn clones_on_many_threads_drop_the_value_once() {
        let counter = Arc::new(());
        let shared = Shared::new(counter.clone());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                let mine = shared.clone();
                scope.spawn(move || {
                    for _ in 0..10_000 {
                        let other = mine.clone();
                        assert!(!Shared::is_unique(&other));
                    }
                });
            }
        });
        assert!(Shared::is_unique(&shared));
        drop(shared);
        assert_eq!(Arc::strong_count(&counter), 1);
    }

    #[test]
    fn get_mut_needs_the_only_handle() {
        let mut first = Shared::new(1);
        let second = first.clone();
        assert_eq!(Shared::get_mut(&mut first), None);
        drop(second);
        *Shared::get_mut(&mut first).unwrap() = 2;
        assert_eq!(*first, 2);
    }

    #[test]
    fn a_unique_value_can_be_changed_and_then_shared() {
        let mut unique = Unique::new(vec![1]);
        unique.push(2);
        let shared = unique.into_shared();
        assert_eq!((&**shared, Shared::handle_count(&shared)), (&[1, 2][..], 1));
    }

    #[test]
    fn trailing_bytes_never_contain_an_old_value() {
        for _ in 0..40 {
            drop(Shared::new([0xab_u8; 300]));
        }
        let all: Vec<Shared<u8>> = (0..100).map(|_| Shared::with_trailing_bytes(|| 7, 300).unwrap()).collect();
        for shared in &all {
            // SAFETY: there are that many bytes, which no other handle reaches, and a block starts zeroed.
            let bytes = unsafe { std::slice::from_raw_parts(shared.trailing_bytes().as_ptr(), 300) };
            assert!(!bytes.contains(&0xab));
        }
    }

    #[test]
    fn trailing_bytes_are_aligned_and_as_many_as_requested() {
        for bytes in [0, 1, 100, 100_000] {
            let shared = Shared::with_trailing_bytes(|| 7_u8, bytes).unwrap();
            assert_eq!(shared.trailing_bytes().addr().get() % 64, 0);
            // SAFETY: there are that many bytes, and nothing else reaches them.
            unsafe { shared.trailing_bytes().write_bytes(0xff, bytes) };
            assert_eq!(*shared, 7);
        }
        assert!(Shared::with_trailing_bytes(|| (), usize::MAX).is_err());
    }
}
