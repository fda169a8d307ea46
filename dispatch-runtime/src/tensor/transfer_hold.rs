//! Holds on storages: CPU memory that a device still uses after the call that started the transfer.
//!
//! A device may still read or write the CPU's memory when a call returns. The code that started the transfer keeps a [`TransferHold`],
//! which locks the storage like a guard and keeps it alive. Any other access that it excludes waits for the device, through
//! [`Backend::finish_transfers`](crate::Backend).

use std::ptr::NonNull;

use super::access::AccessError;
use crate::memory::Storage;

/// A lock on a storage, for reading or for writing. It keeps the storage alive and locked until it is dropped.
///
/// ```
/// use dispatch_runtime::{AccessError, Tensor};
///
/// let mut tensor = Tensor::from_slice(&[1.0_f32, 2.0]);
/// let held = tensor.storage().hold_for_reading().unwrap();
/// assert!(tensor.read::<f32>().is_ok());
/// assert_eq!(tensor.write::<f32>().err(), Some(AccessError::InUse));
/// drop(held);
/// assert!(tensor.write::<f32>().is_ok());
/// ```
#[derive(Debug)]
pub struct TransferHold {
    storage: Storage,
    is_write: bool,
}

impl Storage {
    /// Locks the storage for reading, so that nothing can write it until the returned hold is dropped.
    ///
    /// # Errors
    ///
    /// Returns [`AccessError::InUse`] if the storage is being written.
    pub fn hold_for_reading(&self) -> Result<TransferHold, AccessError> {
        self.hold(self.try_lock_read(), false)
    }

    /// Locks the storage for writing and counts a write, so that nothing can read or write it until the returned hold is dropped.
    ///
    /// # Errors
    ///
    /// Returns [`AccessError::InUse`] if the storage is being read or written.
    pub fn hold_for_writing(&self) -> Result<TransferHold, AccessError> {
        self.hold(self.try_lock_write(), true)
    }

    fn hold(&self, locked: bool, is_write: bool) -> Result<TransferHold, AccessError> {
        if locked { Ok(TransferHold { storage: self.clone(), is_write }) } else { Err(AccessError::InUse) }
    }
}

impl TransferHold {
    /// Returns the storage that is held.
    #[must_use]
    pub fn storage(&self) -> &Storage {
        &self.storage
    }

    /// Returns the address of `size` bytes from `offset` on, if the storage has them and the CPU can address it. The bytes may be read
    /// until this is dropped, and written if the storage is held for writing.
    #[must_use]
    pub fn address(&self, offset: usize, size: usize) -> Option<NonNull<u8>> {
        let end = offset.checked_add(size)?;
        // SAFETY: the bytes are inside of the storage.
        self.storage.host_address().filter(|_| end <= self.storage.size()).map(|start| unsafe { start.add(offset) })
    }
}

impl Drop for TransferHold {
    fn drop(&mut self) {
        if self.is_write {
            self.storage.unlock_write();
        } else {
            self.storage.unlock_read();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::Tensor;

    #[test]
    fn an_address_is_inside_the_storage() {
        let held = Storage::new_host(8).hold_for_writing().unwrap();
        let start = held.address(0, 8).unwrap();
        assert_eq!(held.address(3, 5).unwrap().addr().get(), start.addr().get() + 3);
        assert_eq!((held.address(4, 5), held.address(usize::MAX, 2)), (None, None));
        // SAFETY: the byte is inside, and held for writing.
        unsafe { held.address(7, 1).unwrap().write(9) };
        let last = Tensor::new(held.storage().clone(), crate::DType::U8, crate::Geometry::contiguous(&[8])).unwrap();
        drop(held);
        assert_eq!(last.read::<u8>().unwrap()[7], 9);
    }

    #[test]
    fn a_hold_for_writing_excludes_all_access_and_increments_the_version() {
        let tensor = Tensor::from_slice(&[1_u8]);
        let before = tensor.storage().version();
        let held = tensor.storage().hold_for_writing().unwrap();
        assert!(tensor.read::<u8>().is_err() && tensor.storage().hold_for_reading().is_err());
        drop(held);
        assert!(tensor.read::<u8>().is_ok() && tensor.storage().version() == before + 1);
    }
}
