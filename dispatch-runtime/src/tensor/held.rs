//! Memory that is in use by work which outlives the call that asked for it.
//!
//! A device may still read or write the CPU's memory when a call returns. Whoever started that holds the storage, as a guard would, and
//! keeps it alive; whoever wants the memory meanwhile waits for the device, through [`Backend::finish_transfers`](crate::Backend).

use std::ptr::NonNull;

use super::{AccessError, Storage};

/// Keeps a storage alive, and for reading or for writing, until it is dropped.
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
pub struct Held {
    storage: Storage,
    writes: bool,
}

impl Storage {
    /// Lets nobody write, until the result is dropped.
    ///
    /// # Errors
    ///
    /// Where somebody does just now.
    pub fn hold_for_reading(&self) -> Result<Held, AccessError> {
        self.hold(self.enter_read(), false)
    }

    /// Lets nobody read or write, until the result is dropped, and counts a write.
    ///
    /// # Errors
    ///
    /// Where somebody does just now.
    pub fn hold_for_writing(&self) -> Result<Held, AccessError> {
        self.hold(self.enter_write(), true)
    }

    fn hold(&self, entered: bool, writes: bool) -> Result<Held, AccessError> {
        if entered { Ok(Held { storage: self.clone(), writes }) } else { Err(AccessError::InUse) }
    }
}

impl Held {
    /// The memory.
    #[must_use]
    pub fn storage(&self) -> &Storage {
        &self.storage
    }

    /// Its first byte, where the CPU can address it. The bytes may be read until this is dropped, and written if it is held for that.
    #[must_use]
    pub fn start(&self) -> Option<NonNull<u8>> {
        self.storage.memory()
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if self.writes {
            self.storage.leave_write();
        } else {
            self.storage.leave_read();
        }
    }
}
