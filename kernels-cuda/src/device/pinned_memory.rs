//! Pinned CPU memory, and asynchronous copies between it and a device.
//!
//! A device copies to and from pinned memory without the CPU. The memory is held until such a copy is done: code that accesses it earlier
//! waits for the device automatically. Pinning takes as long as many copies, so freed blocks are kept for reuse.
#![expect(unsafe_code, reason = "pinned memory is lent to tensors as CPU memory")]

use std::collections::HashMap;
use std::ptr::NonNull;
use std::sync::{LazyLock, Mutex};

use dispatch_runtime::{HostBuffer, Storage, TransferHold};

use crate::device::driver::{EventHandle, StreamHandle};
use crate::device::gpu::Gpu;
use crate::error::CudaError;
use crate::lock::lock_ignoring_poison;

/// A block of pinned memory. Its bytes are zeros when it is pinned, and are not cleared before reuse.
struct PinnedBlock {
    start: PinnedAddress,
    size: usize,
}

#[derive(Clone, Copy)]
struct PinnedAddress(NonNull<u8>);

// SAFETY: it is an address, which grants no access by itself.
unsafe impl Send for PinnedAddress {}
// SAFETY: it is an address, which grants no access by itself.
unsafe impl Sync for PinnedAddress {}

// SAFETY: the block has at least `size` bytes, is on no list while this lives, and is never returned to the system.
unsafe impl HostBuffer for PinnedBlock {
    fn start(&self) -> NonNull<u8> {
        self.start.0
    }

    fn size(&self) -> usize {
        self.size
    }
}

/// The free blocks, by their capacity.
static FREE_PINNED_BLOCKS: LazyLock<Mutex<HashMap<usize, Vec<PinnedAddress>>>> = LazyLock::new(Mutex::default);

/// Returns the capacity of the block for `size` bytes: a power of two, at least a page.
fn block_capacity(size: usize) -> usize {
    const PAGE_BYTES: usize = 4096;
    size.max(PAGE_BYTES).checked_next_power_of_two().unwrap_or(size)
}

/// Returns a pinned storage of `size` bytes, from a free block if there is one.
pub(crate) fn allocate(gpu: &Gpu, size: usize) -> Result<Storage, CudaError> {
    let free = lock_ignoring_poison(&FREE_PINNED_BLOCKS).get_mut(&block_capacity(size)).and_then(Vec::pop);
    let start = free.map_or_else(|| gpu.driver.allocate_pinned(block_capacity(size)).map(PinnedAddress), Ok)?;
    Ok(Storage::from_host_buffer(PinnedBlock { start, size }))
}

impl Drop for PinnedBlock {
    fn drop(&mut self) {
        lock_ignoring_poison(&FREE_PINNED_BLOCKS).entry(block_capacity(self.size)).or_default().push(self.start);
    }
}

pub(crate) fn is_pinned(storage: &Storage) -> bool {
    storage.host_buffer::<PinnedBlock>().is_some()
}

/// The running copies between a device and CPU memory.
#[derive(Default)]
pub(crate) struct Transfers(Mutex<Vec<Transfer>>);

struct Transfer {
    hold: TransferHold,
    event: EventHandle,
}

impl Transfers {
    /// Holds the memory of the last copy in a stream until the copy is done.
    pub(crate) fn hold_until_done(&self, gpu: &Gpu, stream: StreamHandle, hold: TransferHold) -> Result<(), CudaError> {
        let event = match gpu.driver.record_event(stream) {
            Ok(event) => event,
            Err(error) => {
                // Without an event, only waiting for the whole stream shows that the copy is done.
                gpu.driver.synchronize(stream)?;
                return Err(error);
            }
        };
        let mut running = lock_ignoring_poison(&self.0);
        Self::release_transfers_if(&mut running, gpu, |transfer| gpu.driver.is_event_complete(transfer.event));
        running.push(Transfer { hold, event });
        Ok(())
    }

    /// Waits for all copies that use a storage, and releases it.
    pub(crate) fn wait_for_storage(&self, gpu: &Gpu, storage: &Storage) {
        let mut running = lock_ignoring_poison(&self.0);
        // The lock is held until the finished copies are removed; otherwise another thread would find the memory in use.
        Self::release_transfers_if(&mut running, gpu, |transfer| {
            let uses = transfer.hold.storage().same(storage);
            if uses {
                gpu.driver.wait_for_event(transfer.event);
            }
            uses
        });
    }

    /// Releases the memory of all copies that are done.
    pub(crate) fn release_finished(&self, gpu: &Gpu) {
        Self::release_transfers_if(&mut lock_ignoring_poison(&self.0), gpu, |transfer| {
            gpu.driver.is_event_complete(transfer.event)
        });
    }

    fn release_transfers_if(running: &mut Vec<Transfer>, gpu: &Gpu, is_done: impl Fn(&Transfer) -> bool) {
        running
            .extract_if(.., |transfer| is_done(transfer))
            .for_each(|transfer| gpu.driver.destroy_event(transfer.event));
    }
}
