//! Storages: the memory of tensors.
//!
//! A [`Storage`] is shared by all views of the same memory. It also has the state that these views share: the version, which counts writes,
//! and the current readers and writer. The memory itself belongs to a backend, which implements [`Buffer`] for it.

use std::any::Any;
use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicI32, AtomicU8, AtomicU64, Ordering};

use super::caching_allocator::OutOfMemory;
use super::shared::Shared;
use super::{backend, free_callbacks};
use crate::key::Device;

/// A block of a backend's memory, which the backend implements.
///
/// ```
/// use dispatch_runtime::{Buffer, Device, Storage};
///
/// struct Simulated { on: Device, bytes: std::sync::Mutex<Vec<u8>> }
///
/// impl Buffer for Simulated {
///     fn device(&self) -> Device { self.on }
///     fn size(&self) -> usize { self.bytes.lock().unwrap().len() }
/// }
///
/// let storage = Storage::new(Simulated { on: Device::META, bytes: vec![0; 16].into() });
/// assert_eq!(storage.size(), 16);
/// assert!(storage.buffer::<Simulated>().is_some());
/// ```
pub trait Buffer: Any + Send + Sync {
    /// Returns the device of the memory.
    fn device(&self) -> Device;

    /// Returns the number of bytes.
    fn size(&self) -> usize;
}

/// A block of memory that the CPU can address but that another owner allocated, such as page-locked memory of a device or a mapped file.
///
/// ```
/// use dispatch_runtime::{HostBuffer, Storage};
/// use std::ptr::NonNull;
///
/// struct Leaked(&'static mut [u64]);
///
/// // SAFETY: the numbers are this buffer's alone, and stay where they are.
/// unsafe impl HostBuffer for Leaked {
///     fn start(&self) -> NonNull<u8> { NonNull::from(&*self.0).cast() }
///     fn size(&self) -> usize { size_of_val(self.0) }
/// }
///
/// let storage = Storage::lent(Leaked(Box::leak(Box::new([0; 4]))));
/// assert!(storage.size() == 32 && storage.lender::<Leaked>().is_some());
/// ```
///
/// # Safety
///
/// From [`start`](Self::start) on there are [`size`](Self::size) bytes. They are initialised, can be read and written for as long as the
/// buffer lives, and are reached only through the storage. Both methods always return the same values.
pub unsafe trait HostBuffer: Any + Send + Sync {
    /// Returns the address of the first byte. It is aligned for every type of element that tensors on the storage have.
    fn start(&self) -> NonNull<u8>;

    /// Returns the number of bytes.
    fn size(&self) -> usize;
}

/// A block of memory with its version, its readers and its writer. Cloning a storage shares it.
///
/// ```
/// use dispatch_runtime::{Device, Storage};
/// let storage = Storage::host(8);
/// assert_eq!((storage.device(), storage.size(), storage.version()), (Device::CPU, 8, 0));
/// ```
#[derive(Clone)]
pub struct Storage(Shared<Body>);

struct Body {
    version: AtomicU64,
    /// The number of guards that read, or [`WRITING`].
    users: AtomicI32,
    /// The work to do when the body is dropped, as flags: [`LENT`] and [`WATCHED`]. Freeing the block behind the body is not among them.
    end: AtomicU8,
    memory: ManuallyDrop<Memory>,
}

/// The memory belongs to a lender or a backend, so dropping it takes work.
const LENT: u8 = 1;
/// The storage has callbacks for its end.
const WATCHED: u8 = 2;

enum Memory {
    /// This number of bytes, which follow the body in its block.
    Host(usize),
    Lent(Box<dyn HostBuffer>),
    Backend(Box<dyn Buffer>),
    /// The memory of a Meta tensor: it has a size, a version and an identity, but no bytes.
    Meta(usize),
}

const WRITING: i32 = -1;

impl Body {
    #[inline]
    const fn over(memory: Memory) -> Self {
        let end = if matches!(memory, Memory::Host(_) | Memory::Meta(_)) { 0 } else { LENT };
        let (version, users, end) = (AtomicU64::new(0), AtomicI32::new(0), AtomicU8::new(end));
        Self { version, users, end, memory: ManuallyDrop::new(memory) }
    }

    #[cold]
    fn end(&mut self) {
        if *self.end.get_mut() & WATCHED != 0 {
            free_callbacks::freed(std::ptr::from_ref(self).addr());
        }
        // SAFETY: called once, when the body is dropped: nothing uses the memory any more.
        unsafe { ManuallyDrop::drop(&mut self.memory) };
    }
}

impl Drop for Body {
    #[inline]
    fn drop(&mut self) {
        if *self.end.get_mut() != 0 {
            self.end();
        }
    }
}

impl Storage {
    /// Creates a storage that owns a backend's memory.
    #[must_use]
    pub fn new(buffer: impl Buffer) -> Self {
        Self::over(Memory::Backend(Box::new(buffer)))
    }

    /// Creates a storage that owns memory that the CPU can address.
    #[must_use]
    pub fn lent(buffer: impl HostBuffer) -> Self {
        Self::over(Memory::Lent(Box::new(buffer)))
    }

    /// Allocates `size` zero bytes on the CPU. If there is no memory, the process prints the size and aborts, as with Rust's own
    /// collections; [`try_host`](Self::try_host) returns an error instead.
    #[must_use]
    pub fn host(size: usize) -> Self {
        Self::try_host(size).unwrap_or_else(|error| {
            eprintln!("{error}");
            std::process::abort()
        })
    }

    /// Allocates `size` zero bytes on the CPU, or returns an error.
    ///
    /// # Errors
    ///
    /// Returns [`OutOfMemory`] if the system has no such block.
    pub fn try_host(size: usize) -> Result<Self, OutOfMemory> {
        let storage = Self::recycled(size)?;
        // SAFETY: the block has that many bytes, and nothing else reaches them yet.
        unsafe { storage.0.tail().write_bytes(0, size) };
        Ok(storage)
    }

    /// Allocates `size` bytes on the CPU with arbitrary contents: the fastest memory for a tensor that is written before it is read.
    ///
    /// # Errors
    ///
    /// Returns [`OutOfMemory`] if the system has no such block.
    ///
    /// ```
    /// assert_eq!(dispatch_runtime::Storage::recycled(100).unwrap().size(), 100);
    /// ```
    #[inline]
    pub fn recycled(size: usize) -> Result<Self, OutOfMemory> {
        Shared::with_tail(|| Body::over(Memory::Host(size)), size).map(Self)
    }

    /// Creates a storage of `size` bytes without memory, for Meta tensors, which have only a shape.
    ///
    /// ```
    /// use dispatch_runtime::{Device, Storage};
    /// assert_eq!(Storage::meta(1 << 50).device(), Device::META);
    /// ```
    #[must_use]
    pub fn meta(size: usize) -> Self {
        Self::over(Memory::Meta(size))
    }

    #[inline]
    fn over(memory: Memory) -> Self {
        Self(Shared::new(Body::over(memory)))
    }

    /// Returns the device of the memory.
    #[must_use]
    pub fn device(&self) -> Device {
        match &*self.0.memory {
            Memory::Host(_) | Memory::Lent(_) => Device::CPU,
            Memory::Backend(buffer) => buffer.device(),
            Memory::Meta(_) => Device::META,
        }
    }

    /// Returns the number of bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        match &*self.0.memory {
            Memory::Host(size) | Memory::Meta(size) => *size,
            Memory::Lent(buffer) => buffer.size(),
            Memory::Backend(buffer) => buffer.size(),
        }
    }

    /// Returns the version: the number of writes so far.
    #[inline]
    #[must_use]
    pub fn version(&self) -> u64 {
        self.0.version.load(Ordering::Acquire)
    }

    /// Returns the backend's buffer if its type is `B`, for kernels of the backend.
    #[must_use]
    pub fn buffer<B: Buffer>(&self) -> Option<&B> {
        let Memory::Backend(buffer) = &*self.0.memory else { return None };
        let buffer: &dyn Any = &**buffer;
        buffer.downcast_ref()
    }

    /// Returns the lender of this memory, if it has one of type `B`.
    #[must_use]
    pub fn lender<B: HostBuffer>(&self) -> Option<&B> {
        let Memory::Lent(buffer) = &*self.0.memory else { return None };
        let buffer: &dyn Any = &**buffer;
        buffer.downcast_ref()
    }

    /// Returns whether both are handles to the same memory.
    #[inline]
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        Shared::same(&self.0, &other.0)
    }

    /// Returns a number that no other storage has while this one lives. All handles to the memory have the same number.
    #[must_use]
    pub fn identity(&self) -> usize {
        std::ptr::from_ref::<Body>(&self.0).addr()
    }

    /// Registers `then` to run when the last handle to this memory is dropped. It runs on the thread of that drop, so it must not panic or
    /// wait.
    ///
    /// ```
    /// use dispatch_runtime::Tensor;
    /// use std::sync::mpsc;
    ///
    /// let (tell, told) = mpsc::channel();
    /// let tensor = Tensor::from_slice(&[1.0_f32]);
    /// tensor.storage().when_freed(move || tell.send("freed").unwrap());
    /// let view = tensor.restride(tensor.geometry().clone()).unwrap();
    /// drop(tensor);
    /// assert!(told.try_recv().is_err());
    /// drop(view);
    /// assert_eq!(told.try_recv(), Ok("freed"));
    /// ```
    pub fn when_freed(&self, then: impl FnOnce() + Send + 'static) {
        free_callbacks::add(self.identity(), Box::new(then));
        self.0.end.fetch_or(WATCHED, Ordering::Relaxed);
    }

    /// Counts a write that no guard has counted, such as a write by a device.
    pub fn bump_version(&self) {
        self.0.version.fetch_add(1, Ordering::Release);
    }

    #[inline]
    pub(crate) fn memory(&self) -> Option<NonNull<u8>> {
        match &*self.0.memory {
            Memory::Host(_) => Some(self.0.tail()),
            Memory::Lent(buffer) => Some(buffer.start()),
            Memory::Backend(_) | Memory::Meta(_) => None,
        }
    }

    /// Returns whether this is the only handle to this memory. If it is, a new handle can only be cloned from this one.
    #[inline]
    pub(crate) fn is_unique(&self) -> bool {
        Shared::is_only(&self.0)
    }

    /// Counts a write without an atomic update, for a caller that has the only handle.
    #[inline]
    pub(crate) fn write_alone(&self) {
        self.0.version.store(self.0.version.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// Registers a reader, unless there is a writer. If a device is the writer, waits for it. Returns whether the reader was registered.
    #[inline]
    pub(crate) fn enter_read(&self) -> bool {
        let enter = || {
            self.0
                .users
                .try_update(Ordering::Acquire, Ordering::Relaxed, |users| (users != WRITING).then(|| users + 1))
                .is_ok()
        };
        enter() || {
            backend::finish_transfers(self);
            enter()
        }
    }

    #[inline]
    pub(crate) fn leave_read(&self) {
        self.0.users.fetch_sub(1, Ordering::Release);
    }

    /// Registers the writer and counts the write, unless there are readers or another writer. If a device is one of these, waits for it.
    /// Returns whether the writer was registered.
    #[inline]
    pub(crate) fn enter_write(&self) -> bool {
        let enter = || self.0.users.compare_exchange(0, WRITING, Ordering::Acquire, Ordering::Relaxed).is_ok();
        let entered = enter() || {
            backend::finish_transfers(self);
            enter()
        };
        if entered {
            // There is only one writer here, so no write is lost between the load and the store.
            self.0.version.store(self.0.version.load(Ordering::Relaxed) + 1, Ordering::Release);
        }
        entered
    }

    #[inline]
    pub(crate) fn leave_write(&self) {
        self.0.users.store(0, Ordering::Release);
    }
}

impl fmt::Debug for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Storage({} bytes on {}, version {})", self.size(), self.device(), self.version())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_read_or_one_writes() {
        let storage = Storage::host(4);
        assert!(storage.enter_read() && storage.enter_read());
        assert!(!storage.enter_write());
        storage.leave_read();
        storage.leave_read();
        assert!(storage.enter_write());
        assert!(!storage.enter_read() && !storage.enter_write());
        storage.leave_write();
        assert_eq!(storage.version(), 1);
    }

    #[test]
    fn a_block_that_is_too_large_is_an_error_with_its_size() {
        for size in [usize::MAX, usize::MAX / 2] {
            let error = Storage::try_host(size).unwrap_err();
            assert_eq!(error.to_string(), format!("there is no block of {size} bytes of memory"));
        }
    }

    #[test]
    fn an_empty_block_is_a_block() {
        assert_eq!(Storage::host(0).size(), 0);
    }
}
