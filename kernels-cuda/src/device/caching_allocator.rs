//! The caching allocator: free blocks of device memory, kept for the next allocation in the same queue.
//!
//! A queue runs its work in order. So a block that is freed in a queue can be allocated again in that queue at once, while earlier work
//! still uses it, and without a call of the driver. A block that other queues also used is late: it is reused after their work is done.
//!
//! Blocks of up to 16 MiB are cached, in size classes that are an eighth of a doubling apart. Larger blocks return to the driver's pool,
//! which can split and join them: a kernel that fills such a block takes longer than the driver's call.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard};

use crate::device::gpu::Gpu;
use crate::device::machine::{Address, Mark, Queue};
use crate::device::stream;
use crate::error::CudaError;
use crate::graph;
use crate::lock::locked;

/// The index of a size class, for blocks of at most 16 MiB.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Class(u8);

impl Class {
    const COUNT: usize = 104;
    const SMALLEST: usize = 512;
    const LARGEST: usize = 16 << 20;

    /// Returns the smallest class that holds `bytes` bytes, or `None` if `bytes` exceeds `LARGEST`.
    #[inline]
    fn of(bytes: usize) -> Option<Self> {
        if bytes > Self::LARGEST {
            return None;
        }
        let last = bytes.saturating_sub(1) / Self::SMALLEST;
        let double = last.checked_ilog2().unwrap_or(0).saturating_sub(3) as usize;
        u8::try_from(double * 8 + (last >> double)).ok().map(Self)
    }

    fn capacity(self) -> usize {
        let index = usize::from(self.0);
        let double = (index / 8).saturating_sub(1);
        ((index - double * 8 + 1) * Self::SMALLEST) << double
    }
}

/// Returns the number of bytes that the driver allocates for a request of `bytes` bytes.
fn capacity(bytes: usize) -> usize {
    Class::of(bytes).map_or(bytes, Class::capacity)
}

/// The cache of free blocks of one queue. It lives as long as the process, as queues do.
pub(crate) struct CachingAllocator {
    pub(crate) queue: Queue,
    kept: Mutex<Kept>,
}

struct Kept {
    /// The free blocks by class. In each list, the block that was freed last is at the end.
    lists: [VecDeque<Idle>; Class::COUNT],
    idle: usize,
    /// The number of blocks that were ever added.
    given: u64,
    late: VecDeque<Late>,
}

struct Idle {
    address: Address,
    /// The value of `Kept::given` when the block was added. A smaller one was idle longer.
    age: u64,
}

/// A freed block that other queues use until they pass these marks.
struct Late {
    address: Address,
    bytes: usize,
    marks: Vec<Mark>,
}

impl CachingAllocator {
    /// Creates the allocator of a new queue.
    pub(crate) fn of(queue: Queue) -> &'static Self {
        let lists = [const { VecDeque::new() }; Class::COUNT];
        let kept = Mutex::new(Kept { lists, idle: 0, given: 0, late: VecDeque::new() });
        Box::leak(Box::new(Self { queue, kept }))
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        locked(&self.kept)
    }

    /// Allocates `bytes` bytes for later work of the queue.
    #[inline]
    pub(crate) fn take(&self, gpu: &Gpu, bytes: usize) -> Result<Address, CudaError> {
        let kept = Class::of(bytes).and_then(|class| self.kept().take(class));
        let address = kept.map_or_else(|| self.ask(gpu, bytes), Ok)?;
        gpu.machine.lend(address, bytes, self.queue);
        Ok(address)
    }

    #[cold]
    fn ask(&self, gpu: &Gpu, bytes: usize) -> Result<Address, CudaError> {
        self.end_late(gpu, |mark| gpu.machine.has_passed(mark));
        if let Some(address) = Class::of(bytes).and_then(|class| self.kept().take(class)) {
            return Ok(address);
        }
        match gpu.machine.allocate(capacity(bytes), self.queue) {
            Err(CudaError::OutOfMemory { .. }) => {
                release(gpu)?;
                gpu.machine.allocate(capacity(bytes), self.queue)
            }
            done => done,
        }
    }

    /// Frees a block that only earlier work of this queue uses.
    #[inline]
    pub(crate) fn give(&self, gpu: &Gpu, address: Address, bytes: usize) {
        gpu.machine.take_back(address, self.queue);
        match Class::of(bytes) {
            Some(class) => {
                // The free blocks of a queue take at most an eighth of the device's memory.
                let most = gpu.machine.properties().memory / 8;
                self.kept().keep(class, address, most, |address| gpu.machine.free(address, self.queue));
            }
            None => gpu.machine.free(address, self.queue),
        }
    }

    /// Frees a block that earlier work of other queues also uses.
    #[cold]
    pub(crate) fn give_late(&self, gpu: &Gpu, address: Address, bytes: usize, others: &[Queue]) {
        // If marking fails, the device accepts no more work, but earlier work may still run. So the block is leaked.
        if let Ok(marks) = gpu.machine.mark_all(others) {
            self.kept().late.push_back(Late { address, bytes, marks });
        }
    }

    /// Frees the late blocks that are no longer used, from the front up to the first one that is.
    fn end_late(&self, gpu: &Gpu, is_over: impl Fn(Mark) -> bool) {
        loop {
            let late = self.kept().late.pop_front_if(|late| late.marks.iter().all(|mark| is_over(*mark)));
            let Some(late) = late else { break };
            late.marks.into_iter().for_each(|mark| gpu.machine.unmark(mark));
            self.give(gpu, late.address, late.bytes);
        }
    }

    /// Returns all free blocks to the driver, after waiting for the late ones.
    pub(crate) fn clear(&self, gpu: &Gpu) {
        self.end_late(gpu, |mark| {
            gpu.machine.wait_for(mark);
            true
        });
        let mut kept = self.kept();
        kept.idle = 0;
        kept.lists
            .iter_mut()
            .flat_map(|list| list.drain(..))
            .for_each(|idle| gpu.machine.free(idle.address, self.queue));
    }
}

impl Kept {
    #[inline]
    fn take(&mut self, class: Class) -> Option<Address> {
        let idle = self.lists[usize::from(class.0)].pop_back()?;
        self.idle -= class.capacity();
        Some(idle.address)
    }

    /// Adds a free block. Frees the blocks that were idle longest while the total exceeds `most` bytes.
    #[inline]
    fn keep(&mut self, class: Class, address: Address, most: usize, free: impl Fn(Address)) {
        self.given += 1;
        self.idle += class.capacity();
        self.lists[usize::from(class.0)].push_back(Idle { address, age: self.given });
        while self.idle > most
            && let Some((oldest, address)) = self.oldest()
        {
            self.idle -= oldest.capacity();
            free(address);
        }
    }

    #[cold]
    fn oldest(&mut self) -> Option<(Class, Address)> {
        let lists = (0_u8..).zip(&mut self.lists).filter(|(_, list)| !list.is_empty());
        let (class, list) = lists.min_by_key(|(_, list)| list.front().map(|idle| idle.age))?;
        Some((Class(class), list.pop_front()?.address))
    }
}

/// Returns the free blocks of all queues of a device to the system, after waiting for all its streams.
pub(crate) fn release(gpu: &Gpu) -> Result<(), CudaError> {
    for allocator in stream::allocators(gpu) {
        allocator.clear(gpu);
    }
    // The driver reuses a block in another queue only after the queue that freed it is done.
    stream::wait_for_all(gpu)?;
    gpu.machine.trim()
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
        return Err(CudaError::Driver { call: "empty_cache", said: "it cannot be recorded".to_owned() });
    }
    Gpu::opened().try_for_each(release)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_holds_its_sizes_and_wastes_at_most_an_eighth() {
        for bytes in (1..5000).chain((5000..=Class::LARGEST).step_by(997)) {
            let class = Class::of(bytes).unwrap();
            assert!(usize::from(class.0) < Class::COUNT);
            assert!(class.capacity() >= bytes);
            assert!(class.capacity() - bytes < Class::SMALLEST.max(bytes / 8 + 1), "{bytes} {}", class.capacity());
            assert_eq!(Class::of(class.capacity()), Some(class));
            assert!(Class::of(class.capacity() + 1).is_none_or(|next| next.0 == class.0 + 1));
        }
    }

    #[test]
    fn a_power_of_two_wastes_nothing_and_the_driver_has_what_is_large() {
        (9..=24).for_each(|double| assert_eq!(capacity(1 << double), 1 << double));
        assert_eq!(Class::of(Class::LARGEST), Some(Class(103)));
        assert_eq!(capacity((16 << 20) + 1), (16 << 20) + 1);
    }

    #[test]
    fn what_was_given_back_last_is_lent_first_and_what_was_idle_longest_is_given_up() {
        let allocator = CachingAllocator::of(1);
        let (small, large) = (Class::of(512).unwrap(), Class::of(4096).unwrap());
        let freed = Mutex::new(Vec::new());
        let free = |address| freed.lock().unwrap().push(address);
        for (class, address) in [(large, 1), (small, 2), (small, 3), (large, 4)] {
            allocator.kept().keep(class, address, 5 << 10, free);
        }
        assert_eq!(*freed.lock().unwrap(), [1]);
        assert_eq!(allocator.kept().take(small), Some(3));
        assert_eq!(allocator.kept().take(small), Some(2));
        assert_eq!(allocator.kept().take(small), None);
        assert_eq!(allocator.kept().take(large), Some(4));
        assert_eq!(allocator.kept().idle, 0);
    }
}
