//! What a backend gives the framework besides kernels: its memory.
//!
//! Kernels compute; a [`Backend`] allocates, moves bytes in, out and across, and waits. The CPU's and Meta's are part of the runtime;
//! any other crate brings its own with [`backend!`](crate::backend), next to the key that it declares.

use std::fmt;
use std::sync::OnceLock;

use super::storage::Storage;
use crate::error::Result;
use crate::key::{BACKENDS, Device, Key};

/// The memory of one backend's devices.
///
/// Bytes travel between storages as they are: dtypes and strides are the business of kernels.
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
    /// A block of memory on a device, whatever it holds.
    fn allocate(&self, device: Device, size: usize) -> Result<Storage>;

    /// Fills a storage with bytes of the CPU's, which are as many as it has.
    fn copy_in(&self, from: &[u8], to: &Storage) -> Result<()>;

    /// Fetches all bytes of a storage.
    fn copy_out(&self, from: &Storage, to: &mut [u8]) -> Result<()>;

    /// Copies between two devices of this backend; by way of the CPU unless it knows better.
    fn copy_across(&self, from: &Storage, to: &Storage) -> Result<()> {
        let mut bytes = vec![0; from.size()];
        self.copy_out(from, &mut bytes)?;
        self.copy_in(&bytes, to)
    }

    /// Sets all bytes of a storage; by way of the CPU unless it knows better.
    fn fill(&self, storage: &Storage, byte: u8) -> Result<()> {
        self.copy_in(&vec![byte; storage.size()], storage)
    }

    /// Waits until everything that was asked of the device is done. A backend that computes at once has nothing to wait for.
    fn synchronize(&self, _: Device) -> Result<()> {
        Ok(())
    }

    /// A block of the CPU's memory, whatever it holds, that the devices read and write by themselves while the CPU does something else.
    fn pinned(&self, _size: usize) -> Result<Storage> {
        Err("this backend has no pinned memory; leave the tensor where it is".into())
    }

    /// Whether a storage is such a block.
    fn is_pinned(&self, _storage: &Storage) -> bool {
        false
    }

    /// Waits for whatever a device still does to a storage of the CPU's. The [`TransferHold`](crate::TransferHold) that kept others from
    /// it is dropped then.
    fn finish_transfers(&self, _storage: &Storage) {}

    /// Notes that a kernel is about to write a block that others may have seen, or has written it. The framework calls it around planned
    /// kernels that write tensors of the caller's.
    fn note_write(&self, _storage: &Storage) -> Result<()> {
        Ok(())
    }

    /// How many devices there are just now. Whatever is allocated on a device that is named by its number asks for it.
    fn devices(&self) -> usize {
        1
    }
}

/// A backend and its key: what [`backend!`](crate::backend) makes.
#[derive(Clone, Copy)]
pub struct BackendRecord {
    pub(crate) key: &'static Key,
    pub(crate) backend: &'static (dyn Backend + Sync),
}

impl BackendRecord {
    /// The memory of the devices of `key`.
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

/// Gives a backend's key its memory: `backend!(TPU, Simulated)`.
#[macro_export]
macro_rules! backend {
    ($key:path, $backend:expr) => {
        const _: () = {
            static __BACKEND: $crate::BackendRecord = $crate::BackendRecord::new(&$key, &$backend);
            $crate::__submit! { $crate::__private::Record::Backend(&__BACKEND) }
        };
    };
}

pub(crate) static FOUND: [OnceLock<&'static BackendRecord>; BACKENDS] = [const { OnceLock::new() }; BACKENDS];

/// Takes up what the records bring. The first one for a key stays.
pub(crate) fn found(records: impl IntoIterator<Item = &'static BackendRecord>) {
    for record in records {
        if let Some(backend) = record.key.backend() {
            FOUND[usize::from(backend)].get_or_init(|| record);
        }
    }
}

/// Waits for whatever devices still do to a storage of the CPU's.
#[cold]
pub(crate) fn finish_transfers(storage: &Storage) {
    FOUND.iter().filter_map(OnceLock::get).for_each(|record| record.backend.finish_transfers(storage));
}

/// The devices of the backends that were found so far, and those that are built in.
pub(crate) fn linked() -> Vec<Device> {
    let others = FOUND.iter().filter_map(OnceLock::get).filter_map(|record| Device::new(*record.key));
    [Device::CPU, Device::META].into_iter().chain(others).collect()
}
