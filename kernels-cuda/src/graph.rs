//! Recorded work: a closure's launches, replayed as one.

use dispatch_runtime::{Device, Result};

use crate::error::CudaError;
use crate::gpu::Gpu;
use crate::machine::Recording;
use crate::stream::Stream;

/// The device's work of a closure, and what the closure returned.
///
/// A replay reads the tensors that the closure read, as they are then, and writes those that it wrote: keep both. Write new inputs into
/// the old tensors with `copy_`.
///
/// ```no_run
/// use dispatch_runtime::prelude::*;
/// use kernels_cuda::Graph;
///
/// # fn main() -> Result<()> {
/// let device: Device = "cuda:0".parse().unwrap();
/// let mut x = aten::full(&[4], 1.0.into(), None, None, Some(device), None)?;
/// let graph = Graph::record(device, || aten::mul(&x, &x))?;
/// aten::fill__scalar(&mut x, 3.0.into())?;
/// graph.replay()?;                                    // the result is made of nines
/// println!("{:?}", graph.result());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Graph<T> {
    gpu: &'static Gpu,
    recording: Recording,
    stream: Stream,
    result: T,
}

impl<T> Graph<T> {
    /// Records what a closure asks of a device. It runs twice: once to compile what it needs, and once to be recorded. It may not wait for
    /// the device, as whatever brings elements to the CPU does.
    ///
    /// # Errors
    ///
    /// Where the closure fails, or does what cannot be recorded.
    pub fn record(device: Device, mut work: impl FnMut() -> Result<T>) -> Result<Self> {
        let stream = Stream::new(device)?;
        let (gpu, queue) = stream.parts();
        stream.wait_for(Stream::current(device)?)?;
        let entered = stream.enter();
        drop(work()?);
        stream.synchronize()?;
        gpu.machine.begin_recording(queue)?;
        let result = work();
        let recording = gpu.machine.end_recording(queue);
        drop(entered);
        let result = result?;
        Ok(Self { gpu, recording: recording?, stream, result })
    }

    /// Does the work again, in this thread's current stream.
    ///
    /// # Errors
    ///
    /// Where the driver fails.
    pub fn replay(&self) -> Result<(), CudaError> {
        let current = Stream::current(self.gpu.device())?;
        // Tensors remember the stream of the recording as the last that used them.
        self.stream.wait_for(current)?;
        self.gpu.machine.replay(self.recording, self.stream.parts().1)?;
        current.wait_for(self.stream)
    }

    /// What the closure returned: tensors that every replay writes anew.
    #[must_use]
    pub fn result(&self) -> &T {
        &self.result
    }
}

impl<T> Drop for Graph<T> {
    fn drop(&mut self) {
        self.gpu.machine.forget(self.recording);
    }
}
