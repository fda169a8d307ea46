//! Events: points in a stream's work, with the time at which the device reaches them.

use std::time::Duration;

use crate::device::driver::EventHandle;
use crate::device::gpu::Gpu;
use crate::device::stream::Stream;
use crate::error::CudaError;

/// A point in a stream's work, and the time at which the device reaches it.
///
/// ```no_run
/// use kernels_cuda::{Event, Stream};
/// # fn main() -> dispatch_runtime::Result<()> {
/// let stream = Stream::current("cuda:0".parse().unwrap())?;
/// let start = Event::record(stream)?;
/// // .. operators ..
/// let end = Event::record(stream)?;
/// println!("{:?}", end.elapsed_since(&start)?);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Event {
    gpu: &'static Gpu,
    event: EventHandle,
}

impl Event {
    /// Records an event at the end of a stream's work so far.
    ///
    /// # Errors
    ///
    /// Returns an error if the driver fails, or if the stream is being recorded.
    pub fn record(stream: Stream) -> Result<Self, CudaError> {
        let (gpu, stream) = stream.gpu_and_handle();
        Ok(Self { gpu, event: gpu.driver.record_timed_event(stream)? })
    }

    /// Returns the time from an earlier event of the same device to this one. Waits until the device has reached both.
    ///
    /// # Errors
    ///
    /// Returns [`CudaError::WrongDevice`] if the events are of two devices, and an error if the driver fails.
    pub fn elapsed_since(&self, earlier: &Self) -> Result<Duration, CudaError> {
        if self.gpu.index != earlier.gpu.index {
            return Err(CudaError::WrongDevice { found: earlier.gpu.device(), expected: self.gpu.device() });
        }
        self.gpu.driver.elapsed_time(earlier.event, self.event)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        self.gpu.driver.destroy_event(self.event);
    }
}
