//! Memory of a device that nobody uses, kept for whoever asks next in the same queue.
//!
//! A queue does one thing after the other. So a block that is given back in a queue can be lent again there at once, while earlier work
//! still uses it, and the driver need not be told. A block that other queues used too is late: it is lent again once their work is done.
//!
//! Sizes up to 16 MiB are kept, in classes that are an eighth of a doubling apart. What is larger goes back to the driver's pool, which can
//! split and join: a kernel that fills it takes longer than the call.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard};

use crate::device::gpu::Gpu;
use crate::device::machine::{Address, Mark, Queue};
use crate::device::stream;
use crate::error::CudaError;
use crate::graph;
use crate::lock::locked;

/// A size of block, of at most 16 MiB.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Class(u8);

impl Class {
    const COUNT: usize = 104;
    const SMALLEST: usize = 512;
    const LARGEST: usize = 16 << 20;

    /// The smallest one that holds so many bytes.
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

/// What so many bytes take of the driver's pool.
fn capacity(bytes: usize) -> usize {
    Class::of(bytes).map_or(bytes, Class::capacity)
}

/// What was given back in a queue. It is never closed, as queues are not.
pub(crate) struct CachingAllocator {
    pub(crate) queue: Queue,
    kept: Mutex<Kept>,
}

struct Kept {
    /// By class, the one that was given back last at the end.
    lists: [VecDeque<Idle>; Class::COUNT],
    idle: usize,
    /// How many were ever given back.
    given: u64,
    late: VecDeque<Late>,
}

struct Idle {
    address: Address,
    /// How many were given back before.
    age: u64,
}

/// A block that other queues may still use: until they have passed these marks.
struct Late {
    address: Address,
    bytes: usize,
    marks: Vec<Mark>,
}

impl CachingAllocator {
    /// For a queue that is new.
    pub(crate) fn of(queue: Queue) -> &'static Self {
        let lists = [const { VecDeque::new() }; Class::COUNT];
        let kept = Mutex::new(Kept { lists, idle: 0, given: 0, late: VecDeque::new() });
        Box::leak(Box::new(Self { queue, kept }))
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        locked(&self.kept)
    }

    /// Memory for so many bytes, for later work of the queue.
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

    /// Takes memory back that only earlier work of the queue uses.
    #[inline]
    pub(crate) fn give(&self, gpu: &Gpu, address: Address, bytes: usize) {
        gpu.machine.take_back(address, self.queue);
        match Class::of(bytes) {
            Some(class) => {
                // What lies idle in a queue is at most an eighth of the device.
                let most = gpu.machine.properties().memory / 8;
                self.kept().keep(class, address, most, |address| gpu.machine.free(address, self.queue));
            }
            None => gpu.machine.free(address, self.queue),
        }
    }

    /// Takes memory back that earlier work of other queues uses, too.
    #[cold]
    pub(crate) fn give_late(&self, gpu: &Gpu, address: Address, bytes: usize, others: &[Queue]) {
        // A device that does not even do that gets no more work; what was queued may go on, so the memory is lost.
        if let Ok(marks) = gpu.machine.mark_all(others) {
            self.kept().late.push_back(Late { address, bytes, marks });
        }
    }

    /// Lends again what was late, up to the first block that still is.
    fn end_late(&self, gpu: &Gpu, is_over: impl Fn(Mark) -> bool) {
        loop {
            let late = self.kept().late.pop_front_if(|late| late.marks.iter().all(|mark| is_over(*mark)));
            let Some(late) = late else { break };
            late.marks.into_iter().for_each(|mark| gpu.machine.unmark(mark));
            self.give(gpu, late.address, late.bytes);
        }
    }

    /// Gives everything idle to the driver.
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

    /// Makes room by giving up what was idle longest.
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

/// Gives what lies idle in all queues of a device to the system, once it is over.
pub(crate) fn release(gpu: &Gpu) -> Result<(), CudaError> {
    for allocator in stream::allocators(gpu) {
        allocator.clear(gpu);
    }
    // The driver lends to one queue what was given back in another when that one is done.
    stream::wait_for_all(gpu)?;
    gpu.machine.trim()
}

/// Gives the memory that lies idle back to the system, for other programs. Nobody has to call it for memory of this program's: before a
/// tensor finds none, the same is done.
///
/// ```
/// # fn main() -> Result<(), kernels_cuda::CudaError> {
/// kernels_cuda::empty_cache()
/// # }
/// ```
///
/// # Errors
///
/// Where the driver fails, and while this thread records.
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
