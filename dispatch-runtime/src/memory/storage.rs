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
    /// Returns the device that has the memory.
    fn device(&self) -> Device;

    /// Returns the size of the memory in bytes.
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
/// let storage = Storage::from_host_buffer(Leaked(Box::leak(Box::new([0; 4]))));
/// assert!(storage.size() == 32 && storage.host_buffer::<Leaked>().is_some());
/// ```
///
/// # Safety
///
/// From [`start`](Self::start) on there are [`size`](Self::size) bytes. They are initialised, can be read and written for as long as the
/// buffer lives, and are reached only through the storage. Both methods always return the same values.
pub unsafe trait HostBuffer: Any + Send + Sync {
    /// Returns the address of the first byte. It is aligned for every type of element that tensors on the storage have.
    fn start(&self) -> NonNull<u8>;

    /// Returns the size of the memory in bytes.
    fn size(&self) -> usize;
}

/// A block of memory with its version, its readers and its writer. Cloning a storage shares it.
///
/// ```
/// use dispatch_runtime::{Device, Storage};
/// let storage = Storage::new_host(8);
/// assert_eq!((storage.device(), storage.size(), storage.version()), (Device::CPU, 8, 0));
/// ```
#[derive(Clone)]
pub struct Storage(Shared<StorageBody>);

/// The state of a storage that all its handles share.
struct StorageBody {
    version: AtomicU64,
    /// The state of the lock: the number of readers, or [`WRITE_LOCKED`].
    lock: AtomicI32,
    /// Flags of the work to do when the body is dropped: [`NEEDS_DROP`] and [`HAS_CALLBACKS`]. Freeing the block after the body needs no
    /// flag.
    drop_flags: AtomicU8,
    memory: ManuallyDrop<Memory>,
}

/// A flag: the memory belongs to a [`HostBuffer`] or a [`Buffer`], which must be dropped.
const NEEDS_DROP: u8 = 1;
/// A flag: the storage has callbacks to run when it is freed.
const HAS_CALLBACKS: u8 = 2;

/// The memory of a storage, by its owner.
enum Memory {
    /// CPU memory of this number of bytes, which follow the body in its block.
    Host(usize),
    HostBuffer(Box<dyn HostBuffer>),
    Backend(Box<dyn Buffer>),
    /// The memory of a Meta tensor, which has this size, but no bytes.
    Meta(usize),
}

/// The state of the lock while the storage is being written.
const WRITE_LOCKED: i32 = -1;

impl StorageBody {
    #[inline]
    const fn from_memory(memory: Memory) -> Self {
        let drop_flags = if matches!(memory, Memory::Host(_) | Memory::Meta(_)) { 0 } else { NEEDS_DROP };
        let (version, lock, drop_flags) = (AtomicU64::new(0), AtomicI32::new(0), AtomicU8::new(drop_flags));
        Self { version, lock, drop_flags, memory: ManuallyDrop::new(memory) }
    }

    /// Runs the callbacks and drops the memory.
    #[cold]
    fn run_callbacks_and_drop(&mut self) {
        if *self.drop_flags.get_mut() & HAS_CALLBACKS != 0 {
            free_callbacks::run_callbacks(std::ptr::from_ref(self).addr());
        }
        // SAFETY: called once, when the body is dropped: nothing uses the memory any more.
        unsafe { ManuallyDrop::drop(&mut self.memory) };
    }
}

impl Drop for StorageBody {
    #[inline]
    fn drop(&mut self) {
        if *self.drop_flags.get_mut() != 0 {
            self.run_callbacks_and_drop();
        }
    }
}

impl Storage {
    /// Creates a storage that owns a backend's memory.
    #[must_use]
    pub fn new(buffer: impl Buffer) -> Self {
        Self::from_memory(Memory::Backend(Box::new(buffer)))
    }

    /// Creates a storage that owns memory that the CPU can address.
    #[must_use]
    pub fn from_host_buffer(buffer: impl HostBuffer) -> Self {
        Self::from_memory(Memory::HostBuffer(Box::new(buffer)))
    }

    /// Allocates `size` zero bytes on the CPU. If there is no memory, the process prints the size and aborts, as with Rust's own
    /// collections; [`try_new_host`](Self::try_new_host) returns an error instead.
    #[must_use]
    pub fn new_host(size: usize) -> Self {
        Self::try_new_host(size).unwrap_or_else(|error| {
            eprintln!("{error}");
            std::process::abort()
        })
    }

    /// Allocates `size` zero bytes on the CPU, or returns an error.
    ///
    /// # Errors
    ///
    /// Returns [`OutOfMemory`] if the system has no such block.
    pub fn try_new_host(size: usize) -> Result<Self, OutOfMemory> {
        let storage = Self::try_new_host_unzeroed(size)?;
        // SAFETY: the block has that many bytes, and nothing else reaches them yet.
        unsafe { storage.0.trailing_bytes().write_bytes(0, size) };
        Ok(storage)
    }

    /// Allocates `size` bytes on the CPU with arbitrary contents: the fastest memory for a tensor that is written before it is read.
    ///
    /// # Errors
    ///
    /// Returns [`OutOfMemory`] if the system has no such block.
    ///
    /// ```
    /// assert_eq!(dispatch_runtime::Storage::try_new_host_unzeroed(100).unwrap().size(), 100);
    /// ```
    #[inline]
    pub fn try_new_host_unzeroed(size: usize) -> Result<Self, OutOfMemory> {
        Shared::with_trailing_bytes(|| StorageBody::from_memory(Memory::Host(size)), size).map(Self)
    }

    /// Creates a storage of `size` bytes without memory, for Meta tensors, which have only a shape.
    ///
    /// ```
    /// use dispatch_runtime::{Device, Storage};
    /// assert_eq!(Storage::new_meta(1 << 50).device(), Device::META);
    /// ```
    #[must_use]
    pub fn new_meta(size: usize) -> Self {
        Self::from_memory(Memory::Meta(size))
    }

    #[inline]
    fn from_memory(memory: Memory) -> Self {
        Self(Shared::new(StorageBody::from_memory(memory)))
    }

    /// Returns the device of the memory.
    #[must_use]
    pub fn device(&self) -> Device {
        match &*self.0.memory {
            Memory::Host(_) | Memory::HostBuffer(_) => Device::CPU,
            Memory::Backend(buffer) => buffer.device(),
            Memory::Meta(_) => Device::META,
        }
    }

    /// Returns the size of the memory in bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        match &*self.0.memory {
            Memory::Host(size) | Memory::Meta(size) => *size,
            Memory::HostBuffer(buffer) => buffer.size(),
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

    /// Returns the buffer that [`from_host_buffer`](Self::from_host_buffer) took, if its type is `B`.
    #[must_use]
    pub fn host_buffer<B: HostBuffer>(&self) -> Option<&B> {
        let Memory::HostBuffer(buffer) = &*self.0.memory else { return None };
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
        std::ptr::from_ref::<StorageBody>(&self.0).addr()
    }

    /// Registers a callback to run when the last handle to this memory is dropped. It runs on the thread of that drop, so it must not panic
    /// or wait.
    ///
    /// ```
    /// use dispatch_runtime::Tensor;
    /// use std::sync::mpsc;
    ///
    /// let (sender, receiver) = mpsc::channel();
    /// let tensor = Tensor::from_slice(&[1.0_f32]);
    /// tensor.storage().when_freed(move || sender.send("freed").unwrap());
    /// let view = tensor.restride(tensor.geometry().clone()).unwrap();
    /// drop(tensor);
    /// assert!(receiver.try_recv().is_err());
    /// drop(view);
    /// assert_eq!(receiver.try_recv(), Ok("freed"));
    /// ```
    pub fn when_freed(&self, callback: impl FnOnce() + Send + 'static) {
        free_callbacks::register_callback(self.identity(), Box::new(callback));
        self.0.drop_flags.fetch_or(HAS_CALLBACKS, Ordering::Relaxed);
    }

    /// Increments the version, for a write that no guard has counted, such as a write by a device.
    pub fn bump_version(&self) {
        self.0.version.fetch_add(1, Ordering::Release);
    }

    #[inline]
    pub(crate) fn host_address(&self) -> Option<NonNull<u8>> {
        match &*self.0.memory {
            Memory::Host(_) => Some(self.0.trailing_bytes()),
            Memory::HostBuffer(buffer) => Some(buffer.start()),
            Memory::Backend(_) | Memory::Meta(_) => None,
        }
    }

    /// Returns whether this is the only handle to this memory. If it is, a new handle can only be cloned from this one.
    #[inline]
    pub(crate) fn is_unique(&self) -> bool {
        Shared::is_unique(&self.0)
    }

    /// Increments the version without an atomic update, for a caller that has the only handle.
    #[inline]
    pub(crate) fn bump_version_unshared(&self) {
        self.0.version.store(self.0.version.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// Locks the storage for reading, unless it is being written. If a device is the writer, waits for it. Returns whether it is locked.
    #[inline]
    pub(crate) fn try_lock_read(&self) -> bool {
        let lock = || {
            self.0
                .lock
                .try_update(Ordering::Acquire, Ordering::Relaxed, |readers| {
                    (readers != WRITE_LOCKED).then(|| readers + 1)
                })
                .is_ok()
        };
        lock() || {
            backend::finish_transfers(self);
            lock()
        }
    }

    #[inline]
    pub(crate) fn unlock_read(&self) {
        self.0.lock.fetch_sub(1, Ordering::Release);
    }

    /// Locks the storage for writing and increments the version, unless it is being read or written. If a device reads or writes it, waits
    /// for the device. Returns whether it is locked.
    #[inline]
    pub(crate) fn try_lock_write(&self) -> bool {
        let lock = || self.0.lock.compare_exchange(0, WRITE_LOCKED, Ordering::Acquire, Ordering::Relaxed).is_ok();
        let locked = lock() || {
            backend::finish_transfers(self);
            lock()
        };
        if locked {
            // There is only one writer here, so no write is lost between the load and the store.
            self.0.version.store(self.0.version.load(Ordering::Relaxed) + 1, Ordering::Release);
        }
        locked
    }

    #[inline]
    pub(crate) fn unlock_write(&self) {
        self.0.lock.store(0, Ordering::Release);
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
    fn a_storage_has_many_readers_or_one_writer() {
        let storage = Storage::new_host(4);
        assert!(storage.try_lock_read() && storage.try_lock_read());
        assert!(!storage.try_lock_write());
        storage.unlock_read();
        storage.unlock_read();
        assert!(storage.try_lock_write());
        assert!(!storage.try_lock_read() && !storage.try_lock_write());
        storage.unlock_write();
        assert_eq!(storage.version(), 1);
    }

    #[test]
    fn a_failed_allocation_reports_the_requested_size() {
        for size in [usize::MAX, usize::MAX / 2] {
            let error = Storage::try_new_host(size).unwrap_err();
            assert_eq!(error.to_string(), format!("cannot allocate {size} bytes of memory"));
        }
    }

    #[test]
    fn a_storage_can_have_no_bytes() {
        assert_eq!(Storage::new_host(0).size(), 0);
    }
}
