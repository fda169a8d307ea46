//! The memory of devices.

use std::sync::atomic::{AtomicUsize, Ordering};

use dispatch_runtime::{Backend, Buffer, Device, Result, Storage, backend, keys};

use crate::error::CudaError;
use crate::gpu::{self, Gpu};
use crate::machine::{Address, Queue};
use crate::{graph, pinned, stream};

/// A block of a device's memory. It remembers the queue that used it last: work that follows in another waits for that one.
pub(crate) struct CudaBuffer {
    pub(crate) gpu: &'static Gpu,
    address: Address,
    size: usize,
    last: AtomicUsize,
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
    fn new(gpu: &'static Gpu, size: usize) -> std::result::Result<Self, CudaError> {
        let queue = stream::current(gpu);
        let address = if size == 0 { 0 } else { gpu.machine.allocate(size, queue)? };
        gpu.usage.took(size);
        Ok(Self { gpu, address, size, last: AtomicUsize::new(queue) })
    }

    /// Where it is, for work in `queue`. The storage is its own.
    #[inline]
    pub(crate) fn enter(&self, storage: &Storage, queue: Queue) -> std::result::Result<Address, CudaError> {
        if self.last.load(Ordering::Relaxed) != queue {
            self.change_queue(storage, queue)?;
        }
        Ok(self.address)
    }

    #[cold]
    fn change_queue(&self, storage: &Storage, queue: Queue) -> std::result::Result<(), CudaError> {
        let last = self.last.swap(queue, Ordering::AcqRel);
        // What is being recorded cannot wait for what is not.
        if last == queue || graph::takes_note(storage, last, queue) {
            return Ok(());
        }
        self.gpu.machine.order(last, queue)
    }
}

impl Drop for CudaBuffer {
    fn drop(&mut self) {
        self.gpu.usage.gave(self.size);
        if self.size > 0 {
            // Everything that used it is before the end of the queue that used it last.
            self.gpu.machine.free(self.address, *self.last.get_mut());
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
        Ok(to.gpu.copy_in(from, to.enter(storage, queue)?, queue)?)
    }

    fn copy_out(&self, storage: &Storage, to: &mut [u8]) -> Result<()> {
        let from = Self::buffer(storage)?;
        let queue = stream::current(from.gpu);
        Ok(from.gpu.copy_out(from.enter(storage, queue)?, to, queue)?)
    }

    fn copy_across(&self, source: &Storage, target: &Storage) -> Result<()> {
        let (from, to) = (Self::buffer(source)?, Self::buffer(target)?);
        let queue = stream::current(to.gpu);
        let bytes = from.size.min(to.size);
        if bytes == 0 {
            return Ok(());
        }
        if from.gpu.index == to.gpu.index {
            let places = (from.enter(source, queue)?, to.enter(target, queue)?);
            return Ok(to.gpu.machine.copy(places.0, places.1, bytes, queue)?);
        }
        let mut carried = vec![0; bytes];
        let queue_there = stream::current(from.gpu);
        from.gpu.copy_out(from.enter(source, queue_there)?, &mut carried, queue_there)?;
        Ok(to.gpu.copy_in(&carried, to.enter(target, queue)?, queue)?)
    }

    fn fill(&self, storage: &Storage, byte: u8) -> Result<()> {
        let to = Self::buffer(storage)?;
        let queue = stream::current(to.gpu);
        if to.size > 0 {
            to.gpu.machine.fill(to.enter(storage, queue)?, byte, to.size, queue)?;
        }
        Ok(())
    }

    fn synchronize(&self, device: Device) -> Result<()> {
        let gpu = Gpu::of(device)?;
        stream::wait_for_all(gpu)?;
        gpu.transfers.sweep(gpu);
        Ok(gpu.faults.take(&*gpu.machine, gpu.queue)?)
    }

    fn pinned(&self, size: usize) -> Result<Storage> {
        // Every device reaches it.
        Ok(pinned::allocate(Gpu::get(0)?, size)?)
    }

    fn is_pinned(&self, storage: &Storage) -> bool {
        pinned::is_pinned(storage)
    }

    fn finish_transfers(&self, storage: &Storage) -> bool {
        Gpu::opened().filter(|gpu| gpu.transfers.finish(gpu, storage)).count() > 0
    }

    fn devices(&self) -> usize {
        // Where there is none, whoever allocates is told what is missing.
        gpu::count().max(1)
    }
}

backend!(keys::CUDA, Cuda);

/// How much of a device's memory tensors have.
///
/// ```
/// if let Ok(memory) = kernels_cuda::memory(0) {
///     println!("{} bytes in use, at most {} so far", memory.in_use, memory.most);
/// }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Memory {
    /// Bytes that tensors have now.
    pub in_use: usize,
    /// The most that they had at once.
    pub most: usize,
    /// How many blocks were asked for.
    pub blocks: usize,
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

/// How much of a device's memory tensors have.
///
/// # Errors
///
/// Where there is no such device, or no driver.
pub fn memory(index: u8) -> std::result::Result<Memory, CudaError> {
    let usage = &Gpu::get(index)?.usage;
    let read = |count: &AtomicUsize| count.load(Ordering::Relaxed);
    Ok(Memory { in_use: read(&usage.in_use), most: read(&usage.most), blocks: read(&usage.blocks) })
}
