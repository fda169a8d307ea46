//! The interface through which a backend provides its devices' memory.
//!
//! Kernels compute. A [`Backend`] allocates storages, copies bytes to, from and between them, and waits for its devices. The runtime
//! contains the memory of the CPU and of Meta. Any other crate registers its own with [`backend!`](crate::backend), next to the key that it
//! declares.

use std::fmt;
use std::sync::OnceLock;

use super::storage::Storage;
use crate::error::Result;
use crate::key::{BACKEND_COUNT, Device, Key};

/// Allocation and copies of memory for the devices of one backend.
///
/// Copies move plain bytes between storages: only kernels know dtypes and strides.
///
/// ```standalone_crate
/// use dispatch_runtime::prelude::*;
/// use dispatch_runtime::{Backend, Buffer, Spec, Storage, backend};
/// use std::sync::Mutex;
///
/// #[dispatch_key(backend)]
/// pub static TPU: Key;
///
/// struct Bytes(Mutex<Vec<u8>>);
/// impl Buffer for Bytes {
///     fn device(&self) -> Device { Device::new(TPU).unwrap() }
///     fn size(&self) -> usize { self.0.lock().unwrap().len() }
/// }
///
/// struct Simulated;
/// impl Backend for Simulated {
///     fn allocate(&self, _: Device, size: usize) -> Result<Storage> {
///         Ok(Storage::new(Bytes(vec![0; size].into())))
///     }
///     fn copy_in(&self, from: &[u8], to: &Storage) -> Result<()> {
///         to.buffer::<Bytes>().ok_or("not of this backend")?.0.lock().unwrap().copy_from_slice(from);
///         Ok(())
///     }
///     fn copy_out(&self, from: &Storage, to: &mut [u8]) -> Result<()> {
///         to.copy_from_slice(&from.buffer::<Bytes>().ok_or("not of this backend")?.0.lock().unwrap());
///         Ok(())
///     }
/// }
/// backend!(TPU, Simulated);
///
/// # fn main() -> Result<()> {
/// let t = Spec::contiguous(DType::F32, &[2, 3]).on(Device::new(TPU).unwrap())?;
/// assert_eq!(t.storage().size(), 24);
/// # Ok(())
/// # }
/// ```
pub trait Backend: Sync {
    /// Allocates `size` bytes on a device, with arbitrary contents.
    fn allocate(&self, device: Device, size: usize) -> Result<Storage>;

    /// Copies bytes from the CPU into a storage. `from` has as many bytes as the storage.
    fn copy_in(&self, from: &[u8], to: &Storage) -> Result<()>;

    /// Copies all bytes of a storage to the CPU. `to` has as many bytes as the storage.
    fn copy_out(&self, from: &Storage, to: &mut [u8]) -> Result<()>;

    /// Copies all bytes from one storage to another of this backend. By default, the bytes go through the CPU's memory.
    fn copy_between(&self, from: &Storage, to: &Storage) -> Result<()> {
        let mut bytes = vec![0; from.size()];
        self.copy_out(from, &mut bytes)?;
        self.copy_in(&bytes, to)
    }

    /// Sets every byte of a storage to `byte`. By default, the bytes come from the CPU's memory.
    fn fill(&self, storage: &Storage, byte: u8) -> Result<()> {
        self.copy_in(&vec![byte; storage.size()], storage)
    }

    /// Waits until the device has completed all work that it was given. A backend that computes at once has nothing to wait for.
    fn synchronize(&self, _: Device) -> Result<()> {
        Ok(())
    }

    /// Allocates a block of page-locked (pinned) CPU memory with arbitrary contents. The backend's devices read and write it on their own
    /// while the CPU does other work.
    fn allocate_pinned(&self, _size: usize) -> Result<Storage> {
        Err("this backend has no pinned memory; use the tensor without pinning it".into())
    }

    /// Returns whether a storage was allocated by [`allocate_pinned`](Self::allocate_pinned).
    fn is_pinned(&self, _storage: &Storage) -> bool {
        false
    }

    /// Waits until no device reads or writes a storage of CPU memory any more. Then the [`TransferHold`](crate::TransferHold) that locked
    /// the storage is dropped.
    fn finish_transfers(&self, _storage: &Storage) {}

    /// Records that a kernel is about to write a storage that has other users, or that it has written it. The framework calls it before and
    /// after a planned kernel that writes one of the caller's tensors.
    fn note_kernel_write(&self, _storage: &Storage) -> Result<()> {
        Ok(())
    }

    /// Returns the current number of devices. Every allocation on a device with an index asks for it.
    fn device_count(&self) -> usize {
        1
    }
}

/// A backend with its key: the record that [`backend!`](crate::backend) creates.
#[derive(Clone, Copy)]
pub struct BackendRecord {
    pub(crate) key: &'static Key,
    pub(crate) backend: &'static (dyn Backend + Sync),
}

impl BackendRecord {
    /// Creates the record of the backend whose key is `key`.
    #[must_use]
    pub const fn new(key: &'static Key, backend: &'static (dyn Backend + Sync)) -> Self {
        Self { key, backend }
    }
}

impl fmt::Debug for BackendRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BackendRecord({})", self.key)
    }
}

/// Registers the memory of a backend for its key: `backend!(TPU, Simulated)`.
#[macro_export]
macro_rules! backend {
    ($key:path, $backend:expr) => {
        const _: () = {
            static __BACKEND: $crate::__private::BackendRecord =
                $crate::__private::BackendRecord::new(&$key, &$backend);
            $crate::__private::__submit! { $crate::__private::Record::Backend(&__BACKEND) }
        };
    };
}

pub(crate) static BACKENDS_BY_KEY: [OnceLock<&'static BackendRecord>; BACKEND_COUNT] =
    [const { OnceLock::new() }; BACKEND_COUNT];

/// Stores the backends of all records by key. The first record of a key stays.
pub(crate) fn register_backends(records: impl IntoIterator<Item = &'static BackendRecord>) {
    for record in records {
        if let Some(backend) = record.key.backend_index() {
            BACKENDS_BY_KEY[usize::from(backend)].get_or_init(|| record);
        }
    }
}

/// Waits until no device of any backend reads or writes a storage of CPU memory any more.
#[cold]
pub(crate) fn finish_transfers(storage: &Storage) {
    BACKENDS_BY_KEY.iter().filter_map(OnceLock::get).for_each(|record| record.backend.finish_transfers(storage));
}

/// Returns the built-in devices, and one device for each backend that is registered so far.
pub(crate) fn linked_devices() -> Vec<Device> {
    let others = BACKENDS_BY_KEY.iter().filter_map(OnceLock::get).filter_map(|record| Device::new(*record.key));
    [Device::CPU, Device::META].into_iter().chain(others).collect()
}
