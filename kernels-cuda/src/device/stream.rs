//! Streams: queues of a device's work, each of which runs in order.
//!
//! A thread launches work in its current stream. A tensor may be used in any stream: work in another stream waits for the earlier work on
//! the tensor.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::sync::Mutex;

use dispatch_runtime::{Device, Result};

use crate::device::caching_allocator::CachingAllocator;
use crate::device::driver::StreamHandle;
use crate::device::gpu::Gpu;
use crate::error::CudaError;
use crate::graph;
use crate::lock::lock_ignoring_poison;

/// A queue of a device's work, which runs in order. Copies refer to the same stream. A stream is never closed.
///
/// ```no_run
/// use kernels_cuda::Stream;
/// # fn main() -> dispatch_runtime::Result<()> {
/// let stream = Stream::new("cuda:0".parse().unwrap())?;
/// {
///     let _entered = stream.enter();      // until this is dropped, the thread launches work in `stream`
/// }
/// stream.synchronize()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct Stream {
    gpu: &'static Gpu,
    allocator: &'static CachingAllocator,
}

/// All streams that were opened, so that a thread can wait for the whole device.
static OPENED_STREAMS: Mutex<Vec<Stream>> = Mutex::new(Vec::new());

thread_local! {
    /// The streams that this thread entered, of all devices. The last one of a device is its current stream.
    static ENTERED_STREAMS: RefCell<Vec<Stream>> = const { RefCell::new(Vec::new()) };
}

impl Stream {
    /// Opens a new stream.
    ///
    /// # Errors
    ///
    /// Returns [`CudaError::Unavailable`] if there is no such device or no driver.
    pub fn new(device: Device) -> Result<Self, CudaError> {
        let gpu = Gpu::for_device(device)?;
        let stream = Self { gpu, allocator: CachingAllocator::for_stream(gpu.driver.create_stream()?) };
        lock_ignoring_poison(&OPENED_STREAMS).push(stream);
        Ok(stream)
    }

    /// Returns this thread's current stream of a device.
    ///
    /// # Errors
    ///
    /// Returns [`CudaError::Unavailable`] if there is no such device or no driver.
    pub fn current(device: Device) -> Result<Self, CudaError> {
        let gpu = Gpu::for_device(device)?;
        Ok(Self { gpu, allocator: current_allocator(gpu) })
    }

    /// Makes this stream the thread's current one, until the guard is dropped.
    #[must_use = "the stream is current until this is dropped"]
    pub fn enter(self) -> StreamGuard {
        graph::invalidate_recording();
        ENTERED_STREAMS.with_borrow_mut(|entered| entered.push(self));
        StreamGuard { entered: self, thread: PhantomData }
    }

    /// Makes this stream's later work wait for all earlier work of another stream.
    ///
    /// # Errors
    ///
    /// Returns an error if the driver fails.
    pub fn wait_for(self, other: Self) -> Result<(), CudaError> {
        self.gpu.driver.make_stream_wait(other.allocator.stream, self.allocator.stream)
    }

    /// Waits until the stream's work is done.
    ///
    /// # Errors
    ///
    /// Returns [`CudaError::InvalidValue`] if a kernel found an invalid value, and an error if the driver fails.
    pub fn synchronize(self) -> Result<(), CudaError> {
        self.gpu.copy_device_to_host(0, &mut [], self.allocator.stream)
    }

    pub(crate) fn gpu_and_handle(self) -> (&'static Gpu, StreamHandle) {
        (self.gpu, self.allocator.stream)
    }

    fn is_same_stream(self, other: Self) -> bool {
        std::ptr::eq(self.allocator, other.allocator)
    }
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Stream({}, {:#x})", self.gpu.device(), self.allocator.stream)
    }
}

/// A guard that keeps a stream current. It cannot be sent to another thread.
#[derive(Debug)]
pub struct StreamGuard {
    entered: Stream,
    thread: PhantomData<*const ()>,
}

impl Drop for StreamGuard {
    fn drop(&mut self) {
        ENTERED_STREAMS.with_borrow_mut(|entered| {
            if let Some(at) = entered.iter().rposition(|one| one.is_same_stream(self.entered)) {
                entered.remove(at);
            }
        });
    }
}

/// Returns this thread's current stream of a device.
#[inline]
pub(crate) fn current_stream(gpu: &Gpu) -> StreamHandle {
    current_allocator(gpu).stream
}

/// Returns the allocator of this thread's current stream of a device.
#[inline]
pub(crate) fn current_allocator(gpu: &Gpu) -> &'static CachingAllocator {
    let entered = ENTERED_STREAMS.try_with(|entered| {
        let entered = entered.borrow();
        entered.iter().rev().find(|stream| stream.gpu.index == gpu.index).map(|stream| stream.allocator)
    });
    entered.ok().flatten().unwrap_or(gpu.allocator)
}

/// Returns the allocators of all streams of a device.
pub(crate) fn device_allocators(gpu: &Gpu) -> Vec<&'static CachingAllocator> {
    let opened = lock_ignoring_poison(&OPENED_STREAMS);
    let opened = opened.iter().filter(|stream| stream.gpu.index == gpu.index).map(|stream| stream.allocator);
    std::iter::once(gpu.allocator).chain(opened).collect()
}

/// Waits until all streams of a device are done, except those that are being recorded: no work runs in them.
pub(crate) fn wait_for_all_streams(gpu: &Gpu) -> Result<(), CudaError> {
    let streams: Vec<StreamHandle> = device_allocators(gpu).into_iter().map(|allocator| allocator.stream).collect();
    for event in gpu.driver.record_events(&streams)? {
        gpu.driver.wait_for_event(event);
        gpu.driver.destroy_event(event);
    }
    Ok(())
}
