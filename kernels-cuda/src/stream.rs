//! Streams: queues of a device's work, each in its own order.
//!
//! A thread asks for work in its current stream. Tensors can wander between streams freely: what follows in another waits for what
//! came before.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::sync::{Mutex, PoisonError};

use dispatch_runtime::{Device, Result};

use crate::error::CudaError;
use crate::gpu::Gpu;
use crate::machine::Queue;

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
    queue: Queue,
}

/// All that were opened: somebody may wait for the whole device.
static OPENED: Mutex<Vec<(u8, Queue)>> = Mutex::new(Vec::new());

thread_local! {
    /// Entered ones, by device; the last of a device is current.
    static ENTERED: RefCell<Vec<(u8, Queue)>> = const { RefCell::new(Vec::new()) };
}

impl Stream {
    /// A stream of its own.
    ///
    /// # Errors
    ///
    /// Where there is no such device, or no driver.
    pub fn new(device: Device) -> Result<Self, CudaError> {
        let gpu = Gpu::of(device)?;
        let queue = gpu.machine.open_queue()?;
        OPENED.lock().unwrap_or_else(PoisonError::into_inner).push((gpu.index, queue));
        Ok(Self { gpu, queue })
    }

    /// The stream that this thread's work goes to.
    ///
    /// # Errors
    ///
    /// Where there is no such device, or no driver.
    pub fn current(device: Device) -> Result<Self, CudaError> {
        let gpu = Gpu::of(device)?;
        Ok(Self { gpu, queue: current(gpu) })
    }

    /// Makes it this thread's current one, until the guard is dropped.
    #[must_use = "the stream is current until this is dropped"]
    pub fn enter(self) -> Entered {
        ENTERED.with_borrow_mut(|entered| entered.push((self.gpu.index, self.queue)));
        Entered { entered: (self.gpu.index, self.queue), thread: PhantomData }
    }

    /// Lets its later work wait for all earlier work of another.
    ///
    /// # Errors
    ///
    /// Where the driver fails.
    pub fn wait_for(self, other: Self) -> Result<(), CudaError> {
        self.gpu.machine.order(other.queue, self.queue)
    }

    /// Waits until its work is done.
    ///
    /// # Errors
    ///
    /// Where the driver fails, and where a kernel came upon a value that it cannot compute with.
    pub fn synchronize(self) -> Result<(), CudaError> {
        self.gpu.machine.wait(self.queue)?;
        self.gpu.faults.take(&*self.gpu.machine, self.queue)
    }

    pub(crate) fn parts(self) -> (&'static Gpu, Queue) {
        (self.gpu, self.queue)
    }
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Stream({}, {:#x})", self.gpu.device(), self.queue)
    }
}

/// Keeps a stream current. It stays on its thread.
#[derive(Debug)]
pub struct Entered {
    entered: (u8, Queue),
    thread: PhantomData<*const ()>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        ENTERED.with_borrow_mut(|entered| {
            if let Some(at) = entered.iter().rposition(|one| *one == self.entered) {
                entered.remove(at);
            }
        });
    }
}

/// Where this thread's work for a device goes.
#[inline]
pub(crate) fn current(gpu: &Gpu) -> Queue {
    let entered = ENTERED.try_with(|entered| {
        let entered = entered.borrow();
        entered.iter().rev().find(|(index, _)| *index == gpu.index).map(|(_, queue)| *queue)
    });
    entered.ok().flatten().unwrap_or(gpu.queue)
}

/// Waits until all streams of a device are done.
pub(crate) fn wait_for_all(gpu: &Gpu) -> Result<(), CudaError> {
    gpu.machine.wait(gpu.queue)?;
    let opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner).clone();
    opened.into_iter().filter(|(index, _)| *index == gpu.index).try_for_each(|(_, queue)| gpu.machine.wait(queue))
}
