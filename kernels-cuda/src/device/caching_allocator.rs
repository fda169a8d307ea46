//! The caching allocator: free blocks of device memory, kept for the next allocation in the same stream.
//!
//! A stream runs its work in order. So a block that is freed in a stream can be allocated again in that stream at once, while earlier work
//! still uses it, and without a call of the driver. The free of a block that other streams also used is deferred until their work is done.
//!
//! Blocks of up to 16 MiB are cached, in size classes that are an eighth of a doubling apart. Larger blocks return to the driver's pool,
//! which can split and join them: a kernel that fills such a block takes longer than the driver's call.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard};

use crate::device::driver::{DeviceAddress, EventHandle, StreamHandle};
use crate::device::gpu::Gpu;
use crate::device::stream;
use crate::error::CudaError;
use crate::graph;
use crate::lock::lock_ignoring_poison;

/// The index of a size class, for blocks of at most 16 MiB.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct SizeClass(u8);

impl SizeClass {
    const COUNT: usize = 104;
    const SMALLEST_BYTES: usize = 512;
    const LARGEST_BYTES: usize = 16 << 20;

    /// Returns the smallest class that holds `bytes` bytes, or `None` if `bytes` exceeds `LARGEST_BYTES`.
    #[inline]
    fn for_bytes(bytes: usize) -> Option<Self> {
        if bytes > Self::LARGEST_BYTES {
            return None;
        }
        let last = bytes.saturating_sub(1) / Self::SMALLEST_BYTES;
        let double = last.checked_ilog2().unwrap_or(0).saturating_sub(3) as usize;
        u8::try_from(double * 8 + (last >> double)).ok().map(Self)
    }

    fn capacity(self) -> usize {
        let index = usize::from(self.0);
        let double = (index / 8).saturating_sub(1);
        ((index - double * 8 + 1) * Self::SMALLEST_BYTES) << double
    }
}

/// Returns the number of bytes that the driver allocates for a request of `bytes` bytes.
fn allocated_size(bytes: usize) -> usize {
    SizeClass::for_bytes(bytes).map_or(bytes, SizeClass::capacity)
}

/// The cache of free blocks of one stream. It lives as long as the process, as streams do.
pub(crate) struct CachingAllocator {
    pub(crate) stream: StreamHandle,
    free_lists: Mutex<FreeLists>,
}

struct FreeLists {
    /// The free blocks by class. In each list, the block that was freed last is at the end.
    lists: [VecDeque<FreeBlock>; SizeClass::COUNT],
    free_bytes: usize,
    /// The number of blocks that were ever added.
    blocks_added: u64,
    deferred: VecDeque<DeferredFree>,
}

struct FreeBlock {
    address: DeviceAddress,
    /// The value of `FreeLists::blocks_added` when the block was added. A smaller one was idle longer.
    sequence_number: u64,
}

/// A freed block that other streams still use, until these events are complete.
struct DeferredFree {
    address: DeviceAddress,
    bytes: usize,
    events: Vec<EventHandle>,
}

impl CachingAllocator {
    /// Creates the allocator of a new stream.
    pub(crate) fn for_stream(stream: StreamHandle) -> &'static Self {
        let lists = [const { VecDeque::new() }; SizeClass::COUNT];
        let free_lists = Mutex::new(FreeLists { lists, free_bytes: 0, blocks_added: 0, deferred: VecDeque::new() });
        Box::leak(Box::new(Self { stream, free_lists }))
    }

    fn lock_free_lists(&self) -> MutexGuard<'_, FreeLists> {
        lock_ignoring_poison(&self.free_lists)
    }

    /// Allocates `bytes` bytes for later work of the stream.
    #[inline]
    pub(crate) fn allocate(&self, gpu: &Gpu, bytes: usize) -> Result<DeviceAddress, CudaError> {
        let cached = SizeClass::for_bytes(bytes).and_then(|class| self.lock_free_lists().pop_block(class));
        let address = cached.map_or_else(|| self.allocate_uncached(gpu, bytes), Ok)?;
        gpu.driver.note_allocated(address, bytes, self.stream);
        Ok(address)
    }

    #[cold]
    fn allocate_uncached(&self, gpu: &Gpu, bytes: usize) -> Result<DeviceAddress, CudaError> {
        self.free_finished_blocks(gpu, |event| gpu.driver.is_event_complete(event));
        if let Some(address) = SizeClass::for_bytes(bytes).and_then(|class| self.lock_free_lists().pop_block(class)) {
            return Ok(address);
        }
        match gpu.driver.allocate(allocated_size(bytes), self.stream) {
            Err(CudaError::OutOfMemory { .. }) => {
                release_cached_memory(gpu)?;
                gpu.driver.allocate(allocated_size(bytes), self.stream)
            }
            done => done,
        }
    }

    /// Frees a block that only earlier work of this stream uses.
    #[inline]
    pub(crate) fn free(&self, gpu: &Gpu, address: DeviceAddress, bytes: usize) {
        gpu.driver.note_freed(address, self.stream);
        match SizeClass::for_bytes(bytes) {
            Some(class) => {
                // The free blocks of a stream take at most an eighth of the device's memory.
                let most = gpu.driver.properties().memory / 8;
                self.lock_free_lists().add_block(class, address, most, |address| gpu.driver.free(address, self.stream));
            }
            None => gpu.driver.free(address, self.stream),
        }
    }

    /// Frees a block that earlier work of other streams also uses.
    #[cold]
    pub(crate) fn free_deferred(&self, gpu: &Gpu, address: DeviceAddress, bytes: usize, others: &[StreamHandle]) {
        // If recording events fails, the device accepts no more work, but earlier work may still run. So the block is leaked.
        if let Ok(events) = gpu.driver.record_events(others) {
            self.lock_free_lists().deferred.push_back(DeferredFree { address, bytes, events });
        }
    }

    /// Frees deferred blocks in the order of their frees, up to the first one that a stream still uses.
    fn free_finished_blocks(&self, gpu: &Gpu, is_done: impl Fn(EventHandle) -> bool) {
        loop {
            let deferred = self
                .lock_free_lists()
                .deferred
                .pop_front_if(|deferred| deferred.events.iter().all(|event| is_done(*event)));
            let Some(deferred) = deferred else { break };
            deferred.events.into_iter().for_each(|event| gpu.driver.destroy_event(event));
            self.free(gpu, deferred.address, deferred.bytes);
        }
    }

    /// Returns all free blocks to the driver, after waiting for the deferred ones.
    pub(crate) fn release_free_blocks(&self, gpu: &Gpu) {
        self.free_finished_blocks(gpu, |event| {
            gpu.driver.wait_for_event(event);
            true
        });
        let mut free_lists = self.lock_free_lists();
        free_lists.free_bytes = 0;
        free_lists
            .lists
            .iter_mut()
            .flat_map(|list| list.drain(..))
            .for_each(|idle| gpu.driver.free(idle.address, self.stream));
    }
}

impl FreeLists {
    #[inline]
    fn pop_block(&mut self, class: SizeClass) -> Option<DeviceAddress> {
        let idle = self.lists[usize::from(class.0)].pop_back()?;
        self.free_bytes -= class.capacity();
        Some(idle.address)
    }

    /// Adds a free block. Frees the blocks that were idle longest while the total exceeds `most` bytes.
    #[inline]
    fn add_block(&mut self, class: SizeClass, address: DeviceAddress, most: usize, free: impl Fn(DeviceAddress)) {
        self.blocks_added += 1;
        self.free_bytes += class.capacity();
        self.lists[usize::from(class.0)].push_back(FreeBlock { address, sequence_number: self.blocks_added });
        while self.free_bytes > most
            && let Some((oldest, address)) = self.pop_oldest()
        {
            self.free_bytes -= oldest.capacity();
            free(address);
        }
    }

    #[cold]
    fn pop_oldest(&mut self) -> Option<(SizeClass, DeviceAddress)> {
        let lists = (0_u8..).zip(&mut self.lists).filter(|(_, list)| !list.is_empty());
        let (class, list) = lists.min_by_key(|(_, list)| list.front().map(|idle| idle.sequence_number))?;
        Some((SizeClass(class), list.pop_front()?.address))
    }
}

/// Returns the free blocks of all streams of a device to the system, after waiting for all its streams.
pub(crate) fn release_cached_memory(gpu: &Gpu) -> Result<(), CudaError> {
    for allocator in stream::device_allocators(gpu) {
        allocator.release_free_blocks(gpu);
    }
    // The driver reuses a block in another stream only after the stream that freed it is done.
    stream::wait_for_all_streams(gpu)?;
    gpu.driver.release_free_memory()
}

/// Returns the free cached memory of all devices to the system, for other programs. A program need not call it for its own allocations: an
/// allocation that finds no memory does the same first.
///
/// ```
/// # fn main() -> Result<(), kernels_cuda::CudaError> {
/// kernels_cuda::empty_cache()
/// # }
/// ```
///
/// # Errors
///
/// Returns an error if the driver fails, or if this thread records a graph.
pub fn empty_cache() -> Result<(), CudaError> {
    if graph::is_recording() {
        return Err(CudaError::Driver {
            call: "empty_cache",
            message: "not permitted while this thread records a graph".to_owned(),
        });
    }
    Gpu::opened_gpus().try_for_each(release_cached_memory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_class_wastes_at_most_an_eighth() {
        for bytes in (1..5000).chain((5000..=SizeClass::LARGEST_BYTES).step_by(997)) {
            let class = SizeClass::for_bytes(bytes).unwrap();
            assert!(usize::from(class.0) < SizeClass::COUNT);
            assert!(class.capacity() >= bytes);
            assert!(
                class.capacity() - bytes < SizeClass::SMALLEST_BYTES.max(bytes / 8 + 1),
                "{bytes} {}",
                class.capacity()
            );
            assert_eq!(SizeClass::for_bytes(class.capacity()), Some(class));
            assert!(SizeClass::for_bytes(class.capacity() + 1).is_none_or(|next| next.0 == class.0 + 1));
        }
    }

    #[test]
    fn powers_of_two_waste_nothing_and_large_blocks_have_no_class() {
        (9..=24).for_each(|double| assert_eq!(allocated_size(1 << double), 1 << double));
        assert_eq!(SizeClass::for_bytes(SizeClass::LARGEST_BYTES), Some(SizeClass(103)));
        assert_eq!(allocated_size((16 << 20) + 1), (16 << 20) + 1);
    }

    #[test]
    fn the_last_freed_block_is_reused_first_and_the_oldest_is_released_first() {
        let allocator = CachingAllocator::for_stream(1);
        let (small, large) = (SizeClass::for_bytes(512).unwrap(), SizeClass::for_bytes(4096).unwrap());
        let freed = Mutex::new(Vec::new());
        let free = |address| freed.lock().unwrap().push(address);
        for (class, address) in [(large, 1), (small, 2), (small, 3), (large, 4)] {
            allocator.lock_free_lists().add_block(class, address, 5 << 10, free);
        }
        assert_eq!(*freed.lock().unwrap(), [1]);
        assert_eq!(allocator.lock_free_lists().pop_block(small), Some(3));
        assert_eq!(allocator.lock_free_lists().pop_block(small), Some(2));
        assert_eq!(allocator.lock_free_lists().pop_block(small), None);
        assert_eq!(allocator.lock_free_lists().pop_block(large), Some(4));
        assert_eq!(allocator.lock_free_lists().free_bytes, 0);
    }
}
