//! CUDA memory: storages, copies and memory statistics of the CUDA backend.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use dispatch_runtime::{Backend, Buffer, Device, Result, Storage, backend, keys};

use crate::device::caching_allocator::CachingAllocator;
use crate::device::gpu::{self, Gpu};
use crate::device::machine::{Address, Queue};
use crate::device::pinned_memory;
use crate::device::stream;
use crate::device::stream_uses::{Access, SEVERAL, StreamUses};
use crate::error::CudaError;
use crate::graph;

/// A block of a device's memory, and the queues that use it.
pub(crate) struct CudaBuffer {
    pub(crate) gpu: &'static Gpu,
    allocator: &'static CachingAllocator,
    address: Address,
    size: usize,
    uses: StreamUses,
    /// Set if the block was allocated in a recording. Then the block belongs to the recording and not to the allocator, and
    /// `RecordedBlock::uses` replaces `uses`.
    made: Option<Arc<RecordedBlock>>,
}

/// The state of a block that was allocated in a recording.
#[derive(Debug)]
pub(crate) struct RecordedBlock {
    uses: StreamUses,
    is_there: AtomicBool,
}

impl RecordedBlock {
    /// Orders a replay in `queue` after the earlier work on the block.
    pub(crate) fn enter(&self, gpu: &Gpu, queue: Queue) -> Result<(), CudaError> {
        if self.uses.is_only(queue) {
            return Ok(());
        }
        self.uses.enter(queue, Access::Write, |before| gpu.order(before, queue))
    }

    /// Marks the block as usable: since the first replay it has memory.
    pub(crate) fn is_there_now(&self) {
        self.is_there.store(true, Ordering::Release);
    }
}

impl Buffer for CudaBuffer {
    fn device(&self) -> Device {
        self.gpu.device()
    }

    fn size(&self) -> usize {
        self.size
    }
}

impl CudaBuffer {
    fn new(gpu: &'static Gpu, size: usize) -> Result<Self, CudaError> {
        let allocator = stream::current_allocator(gpu);
        let (address, made) = if size == 0 {
            (0, None)
        } else if graph::is_recording() {
            let made = RecordedBlock { uses: StreamUses::new(allocator.queue), is_there: AtomicBool::new(false) };
            (gpu.machine.allocate(size, allocator.queue)?, Some(graph::record_allocation(made)))
        } else {
            (allocator.take(gpu, size)?, None)
        };
        gpu.usage.took(size);
        let uses = StreamUses::new(if made.is_some() { SEVERAL } else { allocator.queue });
        Ok(Self { gpu, allocator, address, size, uses, made })
    }

    /// Returns the block's address for work in `queue`, ordered after other queues' work as `access` requires. `storage` is the storage of
    /// this buffer.
    #[inline]
    pub(crate) fn enter(&self, storage: &Storage, queue: Queue, access: Access) -> Result<Address, CudaError> {
        if !self.uses.is_only(queue) {
            self.enter_after_others(storage, queue, access)?;
        }
        Ok(self.address)
    }

    #[cold]
    fn enter_after_others(&self, storage: &Storage, queue: Queue, access: Access) -> Result<(), CudaError> {
        let uses = self.made.as_ref().map_or(&self.uses, |made| &made.uses);
        if uses.is_only(queue) {
            return Ok(());
        }
        if self.made.as_ref().is_some_and(|made| !made.is_there.load(Ordering::Acquire)) {
            return Err(CudaError::NotReplayed);
        }
        // Work that is being recorded cannot wait for other streams' work; the recording notes it for its replays.
        let follow = |before: &[Queue]| {
            if graph::record_use(storage, before, queue) { Ok(()) } else { self.gpu.order(before, queue) }
        };
        uses.enter(queue, access, follow)
    }

    /// Queues work that writes to the block.
    fn write(
        &self,
        storage: &Storage,
        queue: Queue,
        work: impl FnOnce(Address) -> Result<(), CudaError>,
    ) -> Result<()> {
        work(self.enter(storage, queue, Access::Write)?)?;
        // Another thread may have entered before `work` was queued, without waiting for it.
        self.enter(storage, queue, Access::Write)?;
        Ok(())
    }
}

impl Drop for CudaBuffer {
    fn drop(&mut self) {
        self.gpu.usage.gave(self.size);
        if self.size == 0 {
            return;
        }
        let (gpu, home) = (self.gpu, self.allocator.queue);
        if let Some(made) = &self.made {
            // If the driver fails, the device runs nothing more.
            _ = gpu.order(&made.uses.others(home), home);
            return gpu.machine.free(self.address, home);
        }
        let others = self.uses.others(home);
        if others.is_empty() {
            self.allocator.give(gpu, self.address, self.size);
        } else {
            self.allocator.give_late(gpu, self.address, self.size, &others);
        }
    }
}

struct Cuda;

impl Cuda {
    fn buffer(storage: &Storage) -> Result<&CudaBuffer> {
        let elsewhere = || CudaError::Elsewhere { found: storage.device(), expected: gpu::cuda(0) };
        Ok(storage.buffer::<CudaBuffer>().ok_or_else(elsewhere)?)
    }
}

impl Backend for Cuda {
    fn allocate(&self, device: Device, size: usize) -> Result<Storage> {
        Ok(Storage::new(CudaBuffer::new(Gpu::of(device)?, size)?))
    }

    fn copy_in(&self, from: &[u8], storage: &Storage) -> Result<()> {
        let to = Self::buffer(storage)?;
        let queue = stream::current(to.gpu);
        to.write(storage, queue, |place| to.gpu.copy_in(from, place, queue))
    }

    fn note_write(&self, storage: &Storage) -> Result<()> {
        let buffer = Self::buffer(storage)?;
        buffer.enter(storage, stream::current(buffer.gpu), Access::Write)?;
        Ok(())
    }

    fn copy_out(&self, storage: &Storage, to: &mut [u8]) -> Result<()> {
        let from = Self::buffer(storage)?;
        let queue = stream::current(from.gpu);
        Ok(from.gpu.copy_out(from.enter(storage, queue, Access::Read)?, to, queue)?)
    }

    fn copy_between(&self, source: &Storage, target: &Storage) -> Result<()> {
        let (from, to) = (Self::buffer(source)?, Self::buffer(target)?);
        let queue = stream::current(to.gpu);
        let bytes = from.size.min(to.size);
        if bytes == 0 {
            return Ok(());
        }
        if from.gpu.index == to.gpu.index {
            let start = from.enter(source, queue, Access::Read)?;
            return to.write(target, queue, |place| to.gpu.machine.copy(start, place, bytes, queue));
        }
        let mut carried = vec![0; bytes];
        let queue_there = stream::current(from.gpu);
        from.gpu.copy_out(from.enter(source, queue_there, Access::Read)?, &mut carried, queue_there)?;
        to.write(target, queue, |place| to.gpu.copy_in(&carried, place, queue))
    }

    fn fill(&self, storage: &Storage, byte: u8) -> Result<()> {
        let to = Self::buffer(storage)?;
        let queue = stream::current(to.gpu);
        if to.size == 0 {
            return Ok(());
        }
        to.write(storage, queue, |place| to.gpu.machine.fill(place, byte, to.size, queue))
    }

    fn synchronize(&self, device: Device) -> Result<()> {
        let gpu = Gpu::of(device)?;
        stream::wait_for_all(gpu)?;
        gpu.transfers.sweep(gpu);
        Ok(gpu.faults.take(&*gpu.machine, gpu.allocator.queue)?)
    }

    fn allocate_pinned(&self, size: usize) -> Result<Storage> {
        // All devices can access pinned memory, whichever device allocates it.
        Ok(pinned_memory::allocate(Gpu::get(0)?, size)?)
    }

    fn is_pinned(&self, storage: &Storage) -> bool {
        pinned_memory::is_pinned(storage)
    }

    fn finish_transfers(&self, storage: &Storage) {
        Gpu::opened().for_each(|gpu| gpu.transfers.finish(gpu, storage));
    }

    fn device_count(&self) -> usize {
        // At least one, so that an allocation without a device returns the error that names what is missing.
        gpu::count().max(1)
    }
}

backend!(keys::CUDA, Cuda);

/// The statistics of a device's memory: the bytes in use and the bytes taken from the system.
///
/// ```
/// if let Ok(memory) = kernels_cuda::memory(0) {
///     println!("{} of {} bytes in use, at most {} so far", memory.in_use, memory.reserved, memory.most);
/// }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Memory {
    /// The bytes of the tensors that exist now.
    pub in_use: usize,
    /// The maximum of `in_use` so far.
    pub most: usize,
    /// The number of allocations so far, also those of 0 bytes.
    pub blocks: usize,
    /// The bytes that the process took from the system: those in use, and those that are cached for later tensors.
    pub reserved: usize,
}

#[derive(Default)]
pub(crate) struct Usage {
    in_use: AtomicUsize,
    most: AtomicUsize,
    blocks: AtomicUsize,
}

impl Usage {
    fn took(&self, bytes: usize) {
        let now = self.in_use.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.most.fetch_max(now, Ordering::Relaxed);
        self.blocks.fetch_add(1, Ordering::Relaxed);
    }

    fn gave(&self, bytes: usize) {
        self.in_use.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// Returns the statistics of a device's memory.
///
/// # Errors
///
/// Returns [`CudaError::Unavailable`] if there is no such device or no driver.
pub fn memory(index: u8) -> Result<Memory, CudaError> {
    let gpu = Gpu::get(index)?;
    let usage = &gpu.usage;
    let read = |count: &AtomicUsize| count.load(Ordering::Relaxed);
    let reserved = gpu.machine.reserved();
    Ok(Memory { in_use: read(&usage.in_use), most: read(&usage.most), blocks: read(&usage.blocks), reserved })
}
