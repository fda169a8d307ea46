//! What a device is made of: memory, streams, and code that runs.
//!
//! There are two: NVIDIA's driver, and the emulator. Everything else in this crate is the same for both.

use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr::NonNull;
use std::time::Duration;

use crate::CudaError;
use crate::compile::source::Source;

/// A place in a device's memory.
pub(crate) type Address = u64;

/// A queue of a device's work, as the machine calls it.
pub(crate) type Queue = usize;

/// A kernel that can be launched, as the machine calls it.
pub(crate) type Function = usize;

/// A kernel that can be launched, and the size of each of its parameters.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) function: Function,
    pub(crate) parameters: Box<[usize]>,
}

/// Loaded code of some instances of a kernel, and what it calls each of them.
pub(crate) struct Module {
    /// The code, as the machine calls it. It is never unloaded.
    pub(crate) code: usize,
    pub(crate) names: HashMap<String, String>,
}

/// Recorded work, as the machine calls it.
pub(crate) type Recording = usize;

/// A place in a queue, as the machine calls it.
pub(crate) type Mark = usize;

/// How many blocks, of how many threads, with how much memory of their own.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    /// Blocks.
    pub blocks: [u32; 3],
    /// Threads of each.
    pub threads: [u32; 3],
    /// Bytes that a block's threads share, beside what the kernel declares.
    pub shared: u32,
}

impl Grid {
    /// A thread for each of `count` elements, in blocks of 256.
    ///
    /// ```
    /// assert_eq!(kernels_cuda::Grid::cover(1000).blocks, [4, 1, 1]);
    /// ```
    #[must_use]
    pub fn cover(count: i64) -> Self {
        Self::of(count.max(0).unsigned_abs().div_ceil(256), 256)
    }

    /// So many blocks in a row, of so many threads. Where 32 bits do not hold their number, no device takes it.
    pub(crate) fn of(blocks: u64, threads: u32) -> Self {
        Self::new(u32::try_from(blocks).unwrap_or(u32::MAX), threads)
    }

    /// So many blocks in a row, of so many threads.
    ///
    /// ```
    /// assert_eq!(kernels_cuda::Grid::new(3, 128).threads, [128, 1, 1]);
    /// ```
    #[must_use]
    pub const fn new(blocks: u32, threads: u32) -> Self {
        Self { blocks: [blocks, 1, 1], threads: [threads, 1, 1], shared: 0 }
    }

    /// The same, with so many bytes that a block's threads share.
    ///
    /// ```
    /// assert_eq!(kernels_cuda::Grid::new(1, 32).sharing(512).shared, 512);
    /// ```
    #[must_use]
    pub const fn sharing(self, bytes: u32) -> Self {
        Self { shared: bytes, ..self }
    }

    /// What there is more of than a device takes, whose blocks share at most so many bytes: how much, and how much it takes.
    #[inline]
    pub(crate) fn excess(&self, shared: u32) -> Option<(&'static str, u64, u64)> {
        let ([x, y, z], [across, down, deep]) = (self.blocks.map(u64::from), self.threads.map(u64::from));
        let limits = [
            ("blocks", x, (1 << 31) - 1),
            ("blocks in their second dimension", y, (1 << 16) - 1),
            ("blocks in their third dimension", z, (1 << 16) - 1),
            ("threads", across.saturating_mul(down).saturating_mul(deep), 1024),
            ("threads in their third dimension", deep, 64),
            ("bytes that a block shares", self.shared.into(), shared.into()),
        ];
        limits.into_iter().find(|(_, asked, most)| asked > most)
    }
}

/// What a device says about itself.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Properties {
    /// Its maker's name for it.
    pub name: String,
    /// Its architecture: 90 is `sm_90`.
    pub architecture: u32,
    /// How many blocks run at once, at least.
    pub multiprocessors: u32,
    /// Bytes of memory.
    pub memory: usize,
    /// Bytes that the threads of a block can share.
    pub shared: u32,
}

pub(crate) trait Machine: Send + Sync {
    fn properties(&self) -> &Properties;

    /// Whether the vendor's libraries can work with it.
    fn has_libraries(&self) -> bool;

    /// Makes the device this thread's, for libraries that ask for no device.
    fn make_current(&self) -> Result<(), CudaError>;

    fn open_queue(&self) -> Result<Queue, CudaError>;

    /// Waits until all work of a queue is done.
    fn wait(&self, queue: Queue) -> Result<(), CudaError>;

    /// Lets no later work of `then` begin before the earlier work of `first` is done.
    fn order(&self, first: Queue, then: Queue) -> Result<(), CudaError>;

    fn allocate(&self, bytes: usize, queue: Queue) -> Result<Address, CudaError>;

    /// Gives memory back, once the earlier work of a queue is done.
    fn free(&self, address: Address, queue: Queue);

    /// Gives what is free to the system.
    fn trim(&self) -> Result<(), CudaError>;

    /// How many bytes it took from the system.
    fn reserved(&self) -> usize;

    /// Memory that was allocated is lent, in a queue's order, to whoever asked for so many bytes of it.
    fn lend(&self, _address: Address, _bytes: usize, _queue: Queue) {}

    /// It is nobody's again.
    fn take_back(&self, _address: Address, _queue: Queue) {}

    /// From the CPU. The bytes stay as they are until the queue comes to it.
    fn copy_in(&self, from: NonNull<u8>, to: Address, bytes: usize, queue: Queue) -> Result<(), CudaError>;

    /// To the CPU, where nobody looks until the queue came to it.
    fn copy_out(&self, from: Address, to: NonNull<u8>, bytes: usize, queue: Queue) -> Result<(), CudaError>;

    fn copy(&self, from: Address, to: Address, bytes: usize, queue: Queue) -> Result<(), CudaError>;

    fn fill(&self, to: Address, byte: u8, bytes: usize, queue: Queue) -> Result<(), CudaError>;

    /// Memory of the CPU's that the device reaches by itself. It is never given back.
    fn pin(&self, bytes: usize) -> Result<NonNull<u8>, CudaError>;

    /// Marks the end of a queue's work so far.
    fn mark(&self, queue: Queue) -> Result<Mark, CudaError>;

    /// Marks those of some queues that are not being recorded.
    fn mark_all(&self, queues: &[Queue]) -> Result<Vec<Mark>, CudaError>;

    /// Whether the work before a mark is done.
    fn has_passed(&self, mark: Mark) -> bool;

    /// Waits until the work before a mark is done.
    fn wait_for(&self, mark: Mark);

    fn unmark(&self, mark: Mark);

    /// Marks the end of a queue's work so far, and the time at which the device reaches it.
    fn mark_with_time(&self, queue: Queue) -> Result<Mark, CudaError>;

    /// The time between two such marks, once the device has reached both.
    fn time_between(&self, first: Mark, last: Mark) -> Result<Duration, CudaError>;

    /// Loads code that has these instances, and maybe others. What was never compiled is compiled.
    fn load(&self, source: &Source, expressions: &[String]) -> Result<Vec<Module>, CudaError>;

    /// Whether all instances of a kernel are best compiled together.
    fn compiles_together(&self) -> bool;

    fn entry(&self, code: usize, name: &str) -> Result<Entry, CudaError>;

    /// Launches a kernel with these parameters.
    ///
    /// # Safety
    ///
    /// Each parameter points to a value of the size that the entry gives for it, and there are as many as the entry has. The kernel does
    /// with these values, in this grid, what [`Kernel::new`](crate::Kernel::new) allows.
    #[expect(unsafe_code, reason = "the kernel is native code")]
    unsafe fn launch(
        &self,
        entry: &Entry,
        grid: Grid,
        parameters: &mut [*mut c_void],
        queue: Queue,
    ) -> Result<(), CudaError>;

    /// Lets a function's blocks share more memory than any may.
    fn allow_shared(&self, function: Function, bytes: u32) -> Result<(), CudaError>;

    fn begin_recording(&self, queue: Queue) -> Result<(), CudaError>;

    fn end_recording(&self, queue: Queue) -> Result<Recording, CudaError>;

    fn replay(&self, recording: Recording, queue: Queue) -> Result<(), CudaError>;

    fn forget(&self, recording: Recording);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_is_refused_from_the_first_block_thread_or_byte_on_that_no_device_takes() {
        let most = Grid { blocks: [(1 << 31) - 1, 65_535, 65_535], threads: [16, 1, 64], shared: 1000 };
        assert_eq!(most.excess(1000), None);
        let larger = [
            Grid { blocks: [1 << 31, 1, 1], ..most },
            Grid { blocks: [1, 65_536, 1], ..most },
            Grid { blocks: [1, 1, 65_536], ..most },
            Grid { threads: [17, 1, 64], ..most },
            Grid { threads: [1, 1, 65], ..most },
            Grid { shared: 1001, ..most },
        ];
        for grid in larger {
            let (what, asked, limit) = grid.excess(1000).unwrap();
            assert!(asked > limit && asked - limit <= 64, "{what}: {grid:?}");
        }
    }
}
