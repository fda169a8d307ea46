//! The interface to a device: memory, streams, events, kernels and recordings.
//!
//! NVIDIA's driver and the emulator implement it. The rest of this crate is the same for both.

use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr::NonNull;
use std::time::Duration;

use crate::CudaError;
use crate::compile::source::Source;

/// An address in a device's memory.
pub(crate) type DeviceAddress = u64;

/// The driver's handle of a CUDA stream, which runs its work in order.
pub(crate) type StreamHandle = usize;

/// The driver's handle of a kernel that can be launched.
pub(crate) type FunctionHandle = usize;

/// A kernel that can be launched, and the size of each of its parameters in bytes.
#[derive(Clone, Debug)]
pub(crate) struct EntryPoint {
    pub(crate) function: FunctionHandle,
    pub(crate) parameters: Box<[usize]>,
}

/// Loaded code of some instances of a kernel, and their names by C++ expression.
pub(crate) struct Module {
    /// The driver's handle of the code. It is never unloaded.
    pub(crate) code: usize,
    pub(crate) names: HashMap<String, String>,
}

/// The driver's handle of recorded work: a CUDA graph.
pub(crate) type RecordingHandle = usize;

/// The driver's handle of a point in a stream's work: a CUDA event.
pub(crate) type EventHandle = usize;

/// The size of a launch: blocks, threads of a block, and dynamic shared memory.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    /// The number of blocks in each dimension.
    pub blocks: [u32; 3],
    /// The number of threads of a block in each dimension.
    pub threads: [u32; 3],
    /// The dynamic shared memory of a block in bytes, besides the shared memory that the kernel declares.
    pub shared_memory: u32,
}

impl Grid {
    /// Returns a grid with a thread for each of `count` elements, in blocks of 256 threads.
    ///
    /// ```
    /// assert_eq!(kernels_cuda::Grid::for_elements(1000).blocks, [4, 1, 1]);
    /// ```
    #[must_use]
    pub fn for_elements(count: i64) -> Self {
        Self::from_block_count(count.max(0).unsigned_abs().div_ceil(256), 256)
    }

    /// Returns a one-dimensional grid of `blocks` blocks. If `blocks` exceeds 32 bits, the result is a grid that no device accepts.
    pub(crate) fn from_block_count(blocks: u64, threads: u32) -> Self {
        Self::new(u32::try_from(blocks).unwrap_or(u32::MAX), threads)
    }

    /// Returns a one-dimensional grid of `blocks` blocks with `threads` threads each.
    ///
    /// ```
    /// assert_eq!(kernels_cuda::Grid::new(3, 128).threads, [128, 1, 1]);
    /// ```
    #[must_use]
    pub const fn new(blocks: u32, threads: u32) -> Self {
        Self { blocks: [blocks, 1, 1], threads: [threads, 1, 1], shared_memory: 0 }
    }

    /// Returns this grid with `bytes` bytes of dynamic shared memory for each block.
    ///
    /// ```
    /// assert_eq!(kernels_cuda::Grid::new(1, 32).with_shared_memory(512).shared_memory, 512);
    /// ```
    #[must_use]
    pub const fn with_shared_memory(self, bytes: u32) -> Self {
        Self { shared_memory: bytes, ..self }
    }

    /// Returns the first quantity that exceeds a device's limits: its name, the requested amount and the limit. `max_shared_memory` is the
    /// device's limit of shared memory for a block.
    #[inline]
    pub(crate) fn exceeded_limit(&self, max_shared_memory: u32) -> Option<(&'static str, u64, u64)> {
        let ([x, y, z], [across, down, deep]) = (self.blocks.map(u64::from), self.threads.map(u64::from));
        let limits = [
            ("blocks", x, (1 << 31) - 1),
            ("blocks in the second dimension", y, (1 << 16) - 1),
            ("blocks in the third dimension", z, (1 << 16) - 1),
            ("threads", across.saturating_mul(down).saturating_mul(deep), 1024),
            ("threads in the third dimension", deep, 64),
            ("bytes of shared memory", self.shared_memory.into(), max_shared_memory.into()),
        ];
        limits.into_iter().find(|(_, requested, limit)| requested > limit)
    }
}

/// The properties of a device.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct DeviceProperties {
    /// The vendor's name of the device.
    pub name: String,
    /// The architecture: 90 is `sm_90`.
    pub architecture: u32,
    /// The number of multiprocessors. The device runs at least that many blocks at once.
    pub multiprocessors: u32,
    /// The device's memory in bytes.
    pub memory: usize,
    /// The maximum shared memory of a block in bytes.
    pub shared_memory: u32,
}

pub(crate) trait DeviceDriver: Send + Sync {
    fn properties(&self) -> &DeviceProperties;

    /// Whether the vendor's libraries (cuBLASLt) work with this device.
    fn supports_vendor_libraries(&self) -> bool;

    /// Makes the device current on this thread, for libraries whose calls take no device.
    fn make_current(&self) -> Result<(), CudaError>;

    fn create_stream(&self) -> Result<StreamHandle, CudaError>;

    /// Waits until all work of a stream is done.
    fn synchronize(&self, stream: StreamHandle) -> Result<(), CudaError>;

    /// Orders later work of `then` after the earlier work of `first`.
    fn make_stream_wait(&self, first: StreamHandle, then: StreamHandle) -> Result<(), CudaError>;

    fn allocate(&self, bytes: usize, stream: StreamHandle) -> Result<DeviceAddress, CudaError>;

    /// Frees memory after the earlier work of a stream is done.
    fn free(&self, address: DeviceAddress, stream: StreamHandle);

    /// Returns free memory to the system.
    fn release_free_memory(&self) -> Result<(), CudaError>;

    /// Returns the number of bytes that the device's pools took from the system.
    fn reserved_bytes(&self) -> usize;

    /// Notes, in a stream's order, that the allocator hands out a block for a request of `bytes` bytes. Only the emulator uses it.
    fn note_allocated(&self, _address: DeviceAddress, _bytes: usize, _stream: StreamHandle) {}

    /// Notes, in a stream's order, that the block was returned to the allocator. Only the emulator uses it.
    fn note_freed(&self, _address: DeviceAddress, _stream: StreamHandle) {}

    /// Copies bytes from the CPU. The bytes must not change until the stream has done the copy.
    fn copy_host_to_device(
        &self,
        from: NonNull<u8>,
        to: DeviceAddress,
        bytes: usize,
        stream: StreamHandle,
    ) -> Result<(), CudaError>;

    /// Copies bytes to the CPU. The target must not be used until the stream has done the copy.
    fn copy_device_to_host(
        &self,
        from: DeviceAddress,
        to: NonNull<u8>,
        bytes: usize,
        stream: StreamHandle,
    ) -> Result<(), CudaError>;

    fn copy_on_device(
        &self,
        from: DeviceAddress,
        to: DeviceAddress,
        bytes: usize,
        stream: StreamHandle,
    ) -> Result<(), CudaError>;

    fn fill_bytes(&self, to: DeviceAddress, byte: u8, bytes: usize, stream: StreamHandle) -> Result<(), CudaError>;

    /// Allocates pinned memory: CPU memory that the device accesses directly. It is never freed.
    fn allocate_pinned(&self, bytes: usize) -> Result<NonNull<u8>, CudaError>;

    /// Records an event at the end of a stream's work so far.
    fn record_event(&self, stream: StreamHandle) -> Result<EventHandle, CudaError>;

    /// Records an event at the end of the work so far of each of these streams, except for streams that are being recorded.
    fn record_events(&self, streams: &[StreamHandle]) -> Result<Vec<EventHandle>, CudaError>;

    /// Whether the work before an event is done.
    fn is_event_complete(&self, event: EventHandle) -> bool;

    /// Waits until the work before an event is done.
    fn wait_for_event(&self, event: EventHandle);

    fn destroy_event(&self, event: EventHandle);

    /// Records an event that also has the time at which the device reaches it.
    fn record_timed_event(&self, stream: StreamHandle) -> Result<EventHandle, CudaError>;

    /// Returns the time between two timed events. Waits until the device has reached both.
    fn elapsed_time(&self, first: EventHandle, last: EventHandle) -> Result<Duration, CudaError>;

    /// Loads code that contains these instances, and maybe others. Instances without compiled code are compiled.
    fn load_modules(&self, source: &Source, expressions: &[String]) -> Result<Vec<Module>, CudaError>;

    /// Whether compiling all instances of a kernel at once is better than compiling each on demand.
    fn prefers_compiling_all(&self) -> bool;

    fn entry_point(&self, code: usize, name: &str) -> Result<EntryPoint, CudaError>;

    /// Launches a kernel with these parameters.
    ///
    /// # Safety
    ///
    /// Each parameter points to a value of the size that the entry has for it, and there are as many as the entry has. The kernel does with
    /// these values, in this grid, only what [`Kernel::new`](crate::Kernel::new) allows.
    #[expect(unsafe_code, reason = "the kernel is native code")]
    unsafe fn launch(
        &self,
        entry: &EntryPoint,
        grid: Grid,
        parameters: &mut [*mut c_void],
        stream: StreamHandle,
    ) -> Result<(), CudaError>;

    /// Permits a function's blocks `bytes` bytes of dynamic shared memory, above the default limit of 48 KiB.
    fn allow_shared_memory(&self, function: FunctionHandle, bytes: u32) -> Result<(), CudaError>;

    fn begin_recording(&self, stream: StreamHandle) -> Result<(), CudaError>;

    fn end_recording(&self, stream: StreamHandle) -> Result<RecordingHandle, CudaError>;

    fn replay(&self, recording: RecordingHandle, stream: StreamHandle) -> Result<(), CudaError>;

    fn destroy_recording(&self, recording: RecordingHandle);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_over_any_limit_of_devices_is_detected() {
        let most = Grid { blocks: [(1 << 31) - 1, 65_535, 65_535], threads: [16, 1, 64], shared_memory: 1000 };
        assert_eq!(most.exceeded_limit(1000), None);
        let larger = [
            Grid { blocks: [1 << 31, 1, 1], ..most },
            Grid { blocks: [1, 65_536, 1], ..most },
            Grid { blocks: [1, 1, 65_536], ..most },
            Grid { threads: [17, 1, 64], ..most },
            Grid { threads: [1, 1, 65], ..most },
            Grid { shared_memory: 1001, ..most },
        ];
        for grid in larger {
            let (quantity, requested, limit) = grid.exceeded_limit(1000).unwrap();
            assert!(requested > limit && requested - limit <= 64, "{quantity}: {grid:?}");
        }
    }
}
