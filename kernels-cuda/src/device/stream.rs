//! Streams: queues of a device's work, each in its own order.
//!
//! A thread asks for work in its current stream. Tensors can wander between streams freely: what follows in another waits for what
//! came before.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::sync::Mutex;

use dispatch_runtime::{Device, Result};

use crate::device::caching_allocator::CachingAllocator;
use crate::device::gpu::Gpu;
use crate::device::machine::Queue;
use crate::error::CudaError;
use crate::graph;
use crate::lock::locked;

/// A queue of a device's work. Copies are of the same one; it is never closed.
///
/// ```no_run
/// use kernels_cuda::Stream;
/// # fn main() -> dispatch_runtime::Result<()> {
/// let stream = Stream::new("cuda:0".parse().unwrap())?;
/// {
///     let _entered = stream.enter();      // until this is dropped, the thread's work goes there
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

/// All that were opened: somebody may wait for the whole device.
static OPENED: Mutex<Vec<Stream>> = Mutex::new(Vec::new());

thread_local! {
    /// Entered ones, of all devices; the last of a device is current.
    static ENTERED: RefCell<Vec<Stream>> = const { RefCell::new(Vec::new()) };
}

impl Stream {
    /// A stream of its own.
    ///
    /// # Errors
    ///
    /// Where there is no such device, or no driver.
    pub fn new(device: Device) -> Result<Self, CudaError> {
        let gpu = Gpu::of(device)?;
        let stream = Self { gpu, allocator: CachingAllocator::of(gpu.machine.open_queue()?) };
        locked(&OPENED).push(stream);
        Ok(stream)
    }

    /// The stream that this thread's work goes to.
    ///
    /// # Errors
    ///
    /// Where there is no such device, or no driver.
    pub fn current(device: Device) -> Result<Self, CudaError> {
        let gpu = Gpu::of(device)?;
        Ok(Self { gpu, allocator: current_allocator(gpu) })
    }

    /// Makes it this thread's current one, until the guard is dropped.
    #[must_use = "the stream is current until this is dropped"]
    pub fn enter(self) -> Entered {
        graph::leaves_its_stream();
        ENTERED.with_borrow_mut(|entered| entered.push(self));
        Entered { entered: self, thread: PhantomData }
    }

    /// Lets its later work wait for all earlier work of another.
    ///
    /// # Errors
    ///
    /// Where the driver fails.
    pub fn wait_for(self, other: Self) -> Result<(), CudaError> {
        self.gpu.machine.order(other.allocator.queue, self.allocator.queue)
    }

    /// Waits until its work is done.
    ///
    /// # Errors
    ///
    /// Where the driver fails, and where a kernel came upon a value that it cannot compute with.
    pub fn synchronize(self) -> Result<(), CudaError> {
        self.gpu.copy_out(0, &mut [], self.allocator.queue)
    }

    pub(crate) fn parts(self) -> (&'static Gpu, Queue) {
        (self.gpu, self.allocator.queue)
    }

    fn is(self, other: Self) -> bool {
        std::ptr::eq(self.allocator, other.allocator)
    }
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Stream({}, {:#x})", self.gpu.device(), self.allocator.queue)
    }
}

/// Keeps a stream current. It stays on its thread.
#[derive(Debug)]
pub struct Entered {
    entered: Stream,
    thread: PhantomData<*const ()>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        ENTERED.with_borrow_mut(|entered| {
            if let Some(at) = entered.iter().rposition(|one| one.is(self.entered)) {
                entered.remove(at);
            }
        });
    }
}

/// Where this thread's work for a device goes.
#[inline]
pub(crate) fn current(gpu: &Gpu) -> Queue {
    current_allocator(gpu).queue
}

/// Where this thread's memory of a device comes from.
#[inline]
pub(crate) fn current_allocator(gpu: &Gpu) -> &'static CachingAllocator {
    let entered = ENTERED.try_with(|entered| {
        let entered = entered.borrow();
        entered.iter().rev().find(|stream| stream.gpu.index == gpu.index).map(|stream| stream.allocator)
    });
    entered.ok().flatten().unwrap_or(gpu.allocator)
}

/// Those of all streams of a device.
pub(crate) fn allocators(gpu: &Gpu) -> Vec<&'static CachingAllocator> {
    let opened = locked(&OPENED);
    let opened = opened.iter().filter(|stream| stream.gpu.index == gpu.index).map(|stream| stream.allocator);
    std::iter::once(gpu.allocator).chain(opened).collect()
}

/// Waits until all streams of a device are done, but those that are being recorded: nothing is done in them.
pub(crate) fn wait_for_all(gpu: &Gpu) -> Result<(), CudaError> {
    let queues: Vec<Queue> = allocators(gpu).into_iter().map(|allocator| allocator.queue).collect();
    for mark in gpu.machine.mark_all(&queues)? {
        gpu.machine.wait_for(mark);
        gpu.machine.unmark(mark);
    }
    Ok(())
}
