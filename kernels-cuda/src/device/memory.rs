//! CUDA memory: storages, copies and memory statistics of the CUDA backend.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use dispatch_runtime::{Backend, Buffer, Device, Result, Storage, backend, keys};

use crate::device::caching_allocator::CachingAllocator;
use crate::device::driver::{DeviceAddress, StreamHandle};
use crate::device::gpu::{self, Gpu};
use crate::device::pinned_memory;
use crate::device::stream;
use crate::device::stream_uses::{Access, NO_SOLE_STREAM, StreamUses};
use crate::error::CudaError;
use crate::graph;

/// A block of a device's memory, and the streams that use it.
pub(crate) struct CudaBuffer {
    pub(crate) gpu: &'static Gpu,
    allocator: &'static CachingAllocator,
    address: DeviceAddress,
    size: usize,
    uses: StreamUses,
    /// The block's state in its recording, if it was allocated in one. Then the block belongs to the recording and not to the allocator,
    /// and `RecordedBlockState::uses` replaces `uses`.
    recorded: Option<Arc<RecordedBlockState>>,
}

/// The state of a block that was allocated in a recording.
#[derive(Debug)]
pub(crate) struct RecordedBlockState {
    uses: StreamUses,
    has_memory: AtomicBool,
}

impl RecordedBlockState {
    /// Orders a replay in `stream` after the earlier work on the block.
    pub(crate) fn order_replay(&self, gpu: &Gpu, stream: StreamHandle) -> Result<(), CudaError> {
        if self.uses.is_sole_stream(stream) {
            return Ok(());
        }
        self.uses.order_access(stream, Access::Write, |before| gpu.order_after(before, stream))
    }

    /// Marks the block as usable: since the first replay it has memory.
    pub(crate) fn mark_as_allocated(&self) {
        self.has_memory.store(true, Ordering::Release);
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
        let (address, recorded) = if size == 0 {
            (0, None)
        } else if graph::is_recording() {
            let recorded =
                RecordedBlockState { uses: StreamUses::new(allocator.stream), has_memory: AtomicBool::new(false) };
            (gpu.driver.allocate(size, allocator.stream)?, Some(graph::record_allocation(recorded)))
        } else {
            (allocator.allocate(gpu, size)?, None)
        };
        gpu.usage.note_allocated(size);
        let uses = StreamUses::new(if recorded.is_some() { NO_SOLE_STREAM } else { allocator.stream });
        Ok(Self { gpu, allocator, address, size, uses, recorded })
    }

    /// Returns the block's address for work in `stream`, ordered after other streams' work as `access` requires. `storage` is the storage
    /// of this buffer.
    #[inline]
    pub(crate) fn ordered_address(
        &self,
        storage: &Storage,
        stream: StreamHandle,
        access: Access,
    ) -> Result<DeviceAddress, CudaError> {
        if !self.uses.is_sole_stream(stream) {
            self.order_after_others(storage, stream, access)?;
        }
        Ok(self.address)
    }

    #[cold]
    fn order_after_others(&self, storage: &Storage, stream: StreamHandle, access: Access) -> Result<(), CudaError> {
        let uses = self.recorded.as_ref().map_or(&self.uses, |recorded| &recorded.uses);
        if uses.is_sole_stream(stream) {
            return Ok(());
        }
        if self.recorded.as_ref().is_some_and(|recorded| !recorded.has_memory.load(Ordering::Acquire)) {
            return Err(CudaError::NotReplayed);
        }
        // Work that is being recorded cannot wait for other streams' work; the recording notes it for its replays.
        let follow = |before: &[StreamHandle]| {
            if graph::record_storage_use(storage, before, stream) {
                Ok(())
            } else {
                self.gpu.order_after(before, stream)
            }
        };
        uses.order_access(stream, access, follow)
    }

    /// Enqueues work that writes to the block.
    fn enqueue_write(
        &self,
        storage: &Storage,
        stream: StreamHandle,
        work: impl FnOnce(DeviceAddress) -> Result<(), CudaError>,
    ) -> Result<()> {
        work(self.ordered_address(storage, stream, Access::Write)?)?;
        // Another thread may have ordered an access before `work` was enqueued. It did not wait for `work`, so the order is made again.
        self.ordered_address(storage, stream, Access::Write)?;
        Ok(())
    }
}

impl Drop for CudaBuffer {
    fn drop(&mut self) {
        self.gpu.usage.note_freed(self.size);
        if self.size == 0 {
            return;
        }
        let (gpu, home) = (self.gpu, self.allocator.stream);
        if let Some(recorded) = &self.recorded {
            // If the driver fails, the device runs nothing more.
            _ = gpu.order_after(&recorded.uses.take_streams_except(home), home);
            return gpu.driver.free(self.address, home);
        }
        let others = self.uses.take_streams_except(home);
        if others.is_empty() {
            self.allocator.free(gpu, self.address, self.size);
        } else {
            self.allocator.free_deferred(gpu, self.address, self.size, &others);
        }
    }
}

struct CudaBackend;

impl CudaBackend {
    fn cuda_buffer(storage: &Storage) -> Result<&CudaBuffer> {
        let wrong_device = || CudaError::WrongDevice { found: storage.device(), expected: gpu::cuda_device(0) };
        Ok(storage.buffer::<CudaBuffer>().ok_or_else(wrong_device)?)
    }
}

impl Backend for CudaBackend {
    fn allocate(&self, device: Device, size: usize) -> Result<Storage> {
        Ok(Storage::new(CudaBuffer::new(Gpu::for_device(device)?, size)?))
    }

    fn copy_in(&self, from: &[u8], storage: &Storage) -> Result<()> {
        let to = Self::cuda_buffer(storage)?;
        let stream = stream::current_stream(to.gpu);
        to.enqueue_write(storage, stream, |address| to.gpu.copy_host_to_device(from, address, stream))
    }

    fn note_kernel_write(&self, storage: &Storage) -> Result<()> {
        let buffer = Self::cuda_buffer(storage)?;
        buffer.ordered_address(storage, stream::current_stream(buffer.gpu), Access::Write)?;
        Ok(())
    }

    fn copy_out(&self, storage: &Storage, to: &mut [u8]) -> Result<()> {
        let from = Self::cuda_buffer(storage)?;
        let stream = stream::current_stream(from.gpu);
        Ok(from.gpu.copy_device_to_host(from.ordered_address(storage, stream, Access::Read)?, to, stream)?)
    }

    fn copy_between(&self, source: &Storage, target: &Storage) -> Result<()> {
        let (from, to) = (Self::cuda_buffer(source)?, Self::cuda_buffer(target)?);
        let stream = stream::current_stream(to.gpu);
        let bytes = from.size.min(to.size);
        if bytes == 0 {
            return Ok(());
        }
        if from.gpu.index == to.gpu.index {
            let start = from.ordered_address(source, stream, Access::Read)?;
            return to
                .enqueue_write(target, stream, |address| to.gpu.driver.copy_on_device(start, address, bytes, stream));
        }
        let mut bytes_on_cpu = vec![0; bytes];
        let source_stream = stream::current_stream(from.gpu);
        from.gpu.copy_device_to_host(
            from.ordered_address(source, source_stream, Access::Read)?,
            &mut bytes_on_cpu,
            source_stream,
        )?;
        to.enqueue_write(target, stream, |address| to.gpu.copy_host_to_device(&bytes_on_cpu, address, stream))
    }

    fn fill(&self, storage: &Storage, byte: u8) -> Result<()> {
        let to = Self::cuda_buffer(storage)?;
        let stream = stream::current_stream(to.gpu);
        if to.size == 0 {
            return Ok(());
        }
        to.enqueue_write(storage, stream, |address| to.gpu.driver.fill_bytes(address, byte, to.size, stream))
    }

    fn synchronize(&self, device: Device) -> Result<()> {
        let gpu = Gpu::for_device(device)?;
        stream::wait_for_all_streams(gpu)?;
        gpu.transfers.release_finished(gpu);
        Ok(gpu.fault_record.take_error(&*gpu.driver, gpu.allocator.stream)?)
    }

    fn allocate_pinned(&self, size: usize) -> Result<Storage> {
        // All devices can access pinned memory, whichever device allocates it.
        Ok(pinned_memory::allocate(Gpu::get(0)?, size)?)
    }

    fn is_pinned(&self, storage: &Storage) -> bool {
        pinned_memory::is_pinned(storage)
    }

    fn finish_transfers(&self, storage: &Storage) {
        Gpu::opened_gpus().for_each(|gpu| gpu.transfers.wait_for_storage(gpu, storage));
    }

    fn device_count(&self) -> usize {
        // At least one, so that an allocation without a device returns the error that names what is missing.
        gpu::device_count().max(1)
    }
}

backend!(keys::CUDA, CudaBackend);

/// The statistics of a device's memory: the bytes in use and the bytes taken from the system.
///
/// ```
/// if let Ok(memory) = kernels_cuda::memory_stats(0) {
///     println!("{} of {} bytes in use, at most {} so far", memory.in_use, memory.reserved, memory.peak_in_use);
/// }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct MemoryStats {
    /// The bytes of the tensors that exist now.
    pub in_use: usize,
    /// The maximum of `in_use` so far.
    pub peak_in_use: usize,
    /// The number of allocations so far, also those of 0 bytes.
    pub allocations: usize,
    /// The bytes that the process took from the system: those in use, and those that are cached for later tensors.
    pub reserved: usize,
}

#[derive(Default)]
pub(crate) struct MemoryCounters {
    in_use: AtomicUsize,
    peak_in_use: AtomicUsize,
    allocations: AtomicUsize,
}

impl MemoryCounters {
    fn note_allocated(&self, bytes: usize) {
        let now = self.in_use.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.peak_in_use.fetch_max(now, Ordering::Relaxed);
        self.allocations.fetch_add(1, Ordering::Relaxed);
    }

    fn note_freed(&self, bytes: usize) {
        self.in_use.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// Returns the statistics of a device's memory.
///
/// # Errors
///
/// Returns [`CudaError::Unavailable`] if there is no such device or no driver.
pub fn memory_stats(index: u8) -> Result<MemoryStats, CudaError> {
    let gpu = Gpu::get(index)?;
    let usage = &gpu.usage;
    let read = |count: &AtomicUsize| count.load(Ordering::Relaxed);
    let reserved = gpu.driver.reserved_bytes();
    Ok(MemoryStats {
        in_use: read(&usage.in_use),
        peak_in_use: read(&usage.peak_in_use),
        allocations: read(&usage.allocations),
        reserved,
    })
}
