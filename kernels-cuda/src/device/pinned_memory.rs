//! Pinned CPU memory, and asynchronous copies between it and a device.
//!
//! A device copies to and from pinned memory without the CPU. The memory is held until such a copy is done: code that accesses it earlier
//! waits for the device automatically. Pinning takes as long as many copies, so freed blocks are kept for reuse.
#![expect(unsafe_code, reason = "memory that a device reaches, lent as a tensor")]

use std::collections::HashMap;
use std::ptr::NonNull;
use std::sync::{LazyLock, Mutex};

use dispatch_runtime::{HostBuffer, Storage, TransferHold};

use crate::device::gpu::Gpu;
use crate::device::machine::{Mark, Queue};
use crate::error::CudaError;
use crate::lock::locked;

/// A block of pinned memory. Its bytes are zeros when it is pinned, and are not cleared before reuse.
struct Pinned {
    start: Start,
    size: usize,
}

#[derive(Clone, Copy)]
struct Start(NonNull<u8>);

// SAFETY: it is an address, which grants no access by itself.
unsafe impl Send for Start {}
// SAFETY: it is an address, which grants no access by itself.
unsafe impl Sync for Start {}

// SAFETY: the block has at least `size` bytes, is on no list while this lives, and is never returned to the system.
unsafe impl HostBuffer for Pinned {
    fn start(&self) -> NonNull<u8> {
        self.start.0
    }

    fn size(&self) -> usize {
        self.size
    }
}

/// The free blocks, by their capacity.
static KEPT: LazyLock<Mutex<HashMap<usize, Vec<Start>>>> = LazyLock::new(Mutex::default);

/// Returns the capacity of the block for `size` bytes: a power of two, at least a page.
fn class(size: usize) -> usize {
    const PAGE: usize = 4096;
    size.max(PAGE).checked_next_power_of_two().unwrap_or(size)
}

/// Returns a pinned storage of `size` bytes, from a free block if there is one.
pub(crate) fn allocate(gpu: &Gpu, size: usize) -> Result<Storage, CudaError> {
    let kept = locked(&KEPT).get_mut(&class(size)).and_then(Vec::pop);
    let start = kept.map_or_else(|| gpu.machine.pin(class(size)).map(Start), Ok)?;
    Ok(Storage::from_host_buffer(Pinned { start, size }))
}

impl Drop for Pinned {
    fn drop(&mut self) {
        locked(&KEPT).entry(class(self.size)).or_default().push(self.start);
    }
}

pub(crate) fn is_pinned(storage: &Storage) -> bool {
    storage.host_buffer::<Pinned>().is_some()
}

/// The running copies between a device and CPU memory.
#[derive(Default)]
pub(crate) struct Transfers(Mutex<Vec<Transfer>>);

struct Transfer {
    held: TransferHold,
    mark: Mark,
}

impl Transfers {
    /// Holds the memory of the last copy in a queue until the copy is done.
    pub(crate) fn watch(&self, gpu: &Gpu, queue: Queue, held: TransferHold) -> Result<(), CudaError> {
        let mark = match gpu.machine.mark(queue) {
            Ok(mark) => mark,
            Err(error) => {
                // Without a mark, only waiting for the whole queue shows that the copy is done.
                gpu.machine.wait(queue)?;
                return Err(error);
            }
        };
        let mut running = locked(&self.0);
        Self::end(&mut running, gpu, |transfer| gpu.machine.has_passed(transfer.mark));
        running.push(Transfer { held, mark });
        Ok(())
    }

    /// Waits for all copies that use a storage, and releases it.
    pub(crate) fn finish(&self, gpu: &Gpu, storage: &Storage) {
        let mut running = locked(&self.0);
        // The lock is held until the finished copies are removed; otherwise another thread would find the memory in use.
        Self::end(&mut running, gpu, |transfer| {
            let uses = transfer.held.storage().same(storage);
            if uses {
                gpu.machine.wait_for(transfer.mark);
            }
            uses
        });
    }

    /// Releases the memory of all copies that are done.
    pub(crate) fn sweep(&self, gpu: &Gpu) {
        Self::end(&mut locked(&self.0), gpu, |transfer| gpu.machine.has_passed(transfer.mark));
    }

    fn end(running: &mut Vec<Transfer>, gpu: &Gpu, is_over: impl Fn(&Transfer) -> bool) {
        running.extract_if(.., |transfer| is_over(transfer)).for_each(|transfer| gpu.machine.unmark(transfer.mark));
    }
}
