//! Pinned memory, and copies that nobody waits for.
//!
//! To and from pinned memory a device copies by itself. Until it is done the memory is held: who wants it meanwhile waits for the device,
//! without having to know. Pinning takes as long as many copies, so blocks are kept for the next one who asks.
#![expect(unsafe_code, reason = "memory that a device reaches, lent as a tensor")]

use std::collections::HashMap;
use std::ptr::NonNull;
use std::sync::{LazyLock, Mutex};

use dispatch_runtime::{HostBuffer, Storage, TransferHold};

use crate::device::gpu::Gpu;
use crate::device::machine::{Mark, Queue};
use crate::error::CudaError;
use crate::lock::locked;

/// A block that a device reaches by itself. Its bytes were zeros at first, and are whatever its last user left.
struct Pinned {
    start: Start,
    size: usize,
}

#[derive(Clone, Copy)]
struct Start(NonNull<u8>);

// SAFETY: it is a place, which says nothing of who may use it.
unsafe impl Send for Start {}
// SAFETY: as above.
unsafe impl Sync for Start {}

// SAFETY: the block has at least as many bytes, is on no list while this lives, and is never given back to the system.
unsafe impl HostBuffer for Pinned {
    fn start(&self) -> NonNull<u8> {
        self.start.0
    }

    fn size(&self) -> usize {
        self.size
    }
}

/// Blocks that nobody uses, by their sizes.
static KEPT: LazyLock<Mutex<HashMap<usize, Vec<Start>>>> = LazyLock::new(Mutex::default);

/// The bytes of the block for so many.
fn class(size: usize) -> usize {
    const PAGE: usize = 4096;
    size.max(PAGE).checked_next_power_of_two().unwrap_or(size)
}

/// A block of so many bytes.
pub(crate) fn allocate(gpu: &Gpu, size: usize) -> Result<Storage, CudaError> {
    let kept = locked(&KEPT).get_mut(&class(size)).and_then(Vec::pop);
    let start = kept.map_or_else(|| gpu.machine.pin(class(size)).map(Start), Ok)?;
    Ok(Storage::lent(Pinned { start, size }))
}

impl Drop for Pinned {
    fn drop(&mut self) {
        locked(&KEPT).entry(class(self.size)).or_default().push(self.start);
    }
}

pub(crate) fn is_pinned(storage: &Storage) -> bool {
    storage.lender::<Pinned>().is_some()
}

/// What a device still does to the CPU's memory.
#[derive(Default)]
pub(crate) struct Transfers(Mutex<Vec<Transfer>>);

struct Transfer {
    held: TransferHold,
    mark: Mark,
}

impl Transfers {
    /// Keeps the memory of a copy, which is the last in a queue, for as long as it takes.
    pub(crate) fn watch(&self, gpu: &Gpu, queue: Queue, held: TransferHold) -> Result<(), CudaError> {
        let mark = match gpu.machine.mark(queue) {
            Ok(mark) => mark,
            Err(error) => {
                // Nobody can tell when it is over but by waiting for everything.
                gpu.machine.wait(queue)?;
                return Err(error);
            }
        };
        let mut running = locked(&self.0);
        Self::end(&mut running, gpu, |transfer| gpu.machine.has_passed(transfer.mark));
        running.push(Transfer { held, mark });
        Ok(())
    }

    /// Waits for all that use a storage.
    pub(crate) fn finish(&self, gpu: &Gpu, storage: &Storage) {
        let mut running = locked(&self.0);
        // Others may not come in before those have left: they would be told that the memory is in use.
        Self::end(&mut running, gpu, |transfer| {
            let uses = transfer.held.storage().same(storage);
            if uses {
                gpu.machine.wait_for(transfer.mark);
            }
            uses
        });
    }

    /// Lets go of all that is over.
    pub(crate) fn sweep(&self, gpu: &Gpu) {
        Self::end(&mut locked(&self.0), gpu, |transfer| gpu.machine.has_passed(transfer.mark));
    }

    fn end(running: &mut Vec<Transfer>, gpu: &Gpu, is_over: impl Fn(&Transfer) -> bool) {
        running.extract_if(.., |transfer| is_over(transfer)).for_each(|transfer| gpu.machine.unmark(transfer.mark));
    }
}
