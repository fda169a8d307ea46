//! The interface to a device: memory, queues, marks, kernels and recordings.
//!
//! NVIDIA's driver and the emulator implement it. The rest of this crate is the same for both.

use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr::NonNull;
use std::time::Duration;

use crate::CudaError;
use crate::compile::source::Source;

/// An address in a device's memory.
pub(crate) type Address = u64;

/// The machine's handle of a queue of work: a CUDA stream.
pub(crate) type Queue = usize;

/// The machine's handle of a kernel that can be launched.
pub(crate) type Function = usize;

/// A kernel that can be launched, and the size of each of its parameters in bytes.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) function: Function,
    pub(crate) parameters: Box<[usize]>,
}

/// Loaded code of some instances of a kernel, and their names by C++ expression.
pub(crate) struct Module {
    /// The machine's handle of the code. It is never unloaded.
    pub(crate) code: usize,
    pub(crate) names: HashMap<String, String>,
}

/// The machine's handle of recorded work: a CUDA graph.
pub(crate) type Recording = usize;

/// The machine's handle of a point in a queue's work: a CUDA event.
pub(crate) type Mark = usize;

/// The size of a launch: blocks, threads of a block, and dynamic shared memory.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    /// The number of blocks in each dimension.
    pub blocks: [u32; 3],
    /// The number of threads of a block in each dimension.
    pub threads: [u32; 3],
    /// The dynamic shared memory of a block in bytes, besides the shared memory that the kernel declares.
    pub shared: u32,
}

impl Grid {
    /// Returns a grid with a thread for each of `count` elements, in blocks of 256 threads.
    ///
    /// ```
    /// assert_eq!(kernels_cuda::Grid::cover(1000).blocks, [4, 1, 1]);
    /// ```
    #[must_use]
    pub fn cover(count: i64) -> Self {
        Self::of(count.max(0).unsigned_abs().div_ceil(256), 256)
    }

    /// Returns a one-dimensional grid of `blocks` blocks. If `blocks` exceeds 32 bits, the result is a grid that no device accepts.
    pub(crate) fn of(blocks: u64, threads: u32) -> Self {
        Self::new(u32::try_from(blocks).unwrap_or(u32::MAX), threads)
    }

    /// Returns a one-dimensional grid of `blocks` blocks with `threads` threads each.
    ///
    /// ```
    /// assert_eq!(kernels_cuda::Grid::new(3, 128).threads, [128, 1, 1]);
    /// ```
    #[must_use]
    pub const fn new(blocks: u32, threads: u32) -> Self {
        Self { blocks: [blocks, 1, 1], threads: [threads, 1, 1], shared: 0 }
    }

    /// Returns this grid with `bytes` bytes of dynamic shared memory for each block.
    ///
    /// ```
    /// assert_eq!(kernels_cuda::Grid::new(1, 32).sharing(512).shared, 512);
    /// ```
    #[must_use]
    pub const fn sharing(self, bytes: u32) -> Self {
        Self { shared: bytes, ..self }
    }

    /// Returns the first quantity that exceeds a device's limits: its name, the requested amount and the limit. `shared` is the device's
    /// limit of shared memory for a block.
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

/// The properties of a device.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Properties {
    /// The vendor's name of the device.
    pub name: String,
    /// The architecture: 90 is `sm_90`.
    pub architecture: u32,
    /// The number of multiprocessors. The device runs at least that many blocks at once.
    pub multiprocessors: u32,
    /// The device's memory in bytes.
    pub memory: usize,
    /// The maximum shared memory of a block in bytes.
    pub shared: u32,
}

pub(crate) trait Machine: Send + Sync {
    fn properties(&self) -> &Properties;

    /// Whether the vendor's libraries (cuBLASLt) work with this device.
    fn has_libraries(&self) -> bool;

    /// Makes the device current on this thread, for libraries whose calls take no device.
    fn make_current(&self) -> Result<(), CudaError>;

    fn open_queue(&self) -> Result<Queue, CudaError>;

    /// Waits until all work of a queue is done.
    fn wait(&self, queue: Queue) -> Result<(), CudaError>;

    /// Orders later work of `then` after the earlier work of `first`.
    fn order(&self, first: Queue, then: Queue) -> Result<(), CudaError>;

    fn allocate(&self, bytes: usize, queue: Queue) -> Result<Address, CudaError>;

    /// Frees memory after the earlier work of a queue is done.
    fn free(&self, address: Address, queue: Queue);

    /// Returns free memory to the system.
    fn trim(&self) -> Result<(), CudaError>;

    /// Returns the number of bytes that the device's pools took from the system.
    fn reserved(&self) -> usize;

    /// Notes, in a queue's order, that the allocator hands out a block for a request of `bytes` bytes. Only the emulator uses it.
    fn lend(&self, _address: Address, _bytes: usize, _queue: Queue) {}

    /// Notes, in a queue's order, that the block was returned to the allocator. Only the emulator uses it.
    fn take_back(&self, _address: Address, _queue: Queue) {}

    /// Copies bytes from the CPU. The bytes must not change until the queue has done the copy.
    fn copy_in(&self, from: NonNull<u8>, to: Address, bytes: usize, queue: Queue) -> Result<(), CudaError>;

    /// Copies bytes to the CPU. The target must not be used until the queue has done the copy.
    fn copy_out(&self, from: Address, to: NonNull<u8>, bytes: usize, queue: Queue) -> Result<(), CudaError>;

    fn copy(&self, from: Address, to: Address, bytes: usize, queue: Queue) -> Result<(), CudaError>;

    fn fill(&self, to: Address, byte: u8, bytes: usize, queue: Queue) -> Result<(), CudaError>;

    /// Allocates pinned memory: CPU memory that the device accesses directly. It is never freed.
    fn pin(&self, bytes: usize) -> Result<NonNull<u8>, CudaError>;

    /// Marks the end of a queue's work so far.
    fn mark(&self, queue: Queue) -> Result<Mark, CudaError>;

    /// Marks the end of the work so far of each of these queues, except for queues that are being recorded.
    fn mark_all(&self, queues: &[Queue]) -> Result<Vec<Mark>, CudaError>;

    /// Whether the work before a mark is done.
    fn has_passed(&self, mark: Mark) -> bool;

    /// Waits until the work before a mark is done.
    fn wait_for(&self, mark: Mark);

    fn unmark(&self, mark: Mark);

    /// Marks the end of a queue's work so far, and the time at which the device reaches it.
    fn mark_with_time(&self, queue: Queue) -> Result<Mark, CudaError>;

    /// Returns the time between two such marks. Waits until the device has reached both.
    fn time_between(&self, first: Mark, last: Mark) -> Result<Duration, CudaError>;

    /// Loads code that contains these instances, and maybe others. Instances without compiled code are compiled.
    fn load(&self, source: &Source, expressions: &[String]) -> Result<Vec<Module>, CudaError>;

    /// Whether compiling all instances of a kernel at once is better than compiling each on demand.
    fn compiles_together(&self) -> bool;

    fn entry(&self, code: usize, name: &str) -> Result<Entry, CudaError>;

    /// Launches a kernel with these parameters.
    ///
    /// # Safety
    ///
    /// Each parameter points to a value of the size that the entry has for it, and there are as many as the entry has. The kernel does with
    /// these values, in this grid, only what [`Kernel::new`](crate::Kernel::new) allows.
    #[expect(unsafe_code, reason = "the kernel is native code")]
    unsafe fn launch(
        &self,
        entry: &Entry,
        grid: Grid,
        parameters: &mut [*mut c_void],
        queue: Queue,
    ) -> Result<(), CudaError>;

    /// Permits a function's blocks `bytes` bytes of dynamic shared memory, above the default limit of 48 KiB.
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
