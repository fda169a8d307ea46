//! Recorded work: a closure's launches, replayed as one.
//!
//! A recording has a stream of its own. So whatever a closure uses that was there before comes from another one, which is noticed, and it
//! is kept for as long as the recording is: a replay reads and writes the same memory.

use std::cell::RefCell;

use dispatch_runtime::{Device, Result, Storage};

use crate::error::CudaError;
use crate::gpu::Gpu;
use crate::machine::{Queue, Recording};
use crate::memory::CudaBuffer;
use crate::stream::Stream;
use crate::users::Access;

/// The device's work of a closure, and what the closure returned.
///
/// A replay reads the tensors that the closure read, as they are then, and writes those that it wrote. Write new inputs into the old
/// tensors with `copy_`.
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
    used: Vec<Used>,
    result: T,
}

/// Memory that was there before.
#[derive(Debug)]
struct Used {
    storage: Storage,
    version: u64,
    is_written: bool,
}

/// What a thread records just now.
struct Notes {
    queue: Queue,
    used: Vec<Used>,
    /// The streams that its memory was used in before.
    before: Vec<Queue>,
}

thread_local! {
    static NOTES: RefCell<Option<Notes>> = const { RefCell::new(None) };
}

/// Keeps memory that work in `queue` uses, if that is being recorded, and says whether it is.
pub(crate) fn takes_note(storage: &Storage, before: &[Queue], queue: Queue) -> bool {
    NOTES.with_borrow_mut(|notes| match notes {
        Some(notes) if notes.queue == queue => {
            if !notes.used.iter().any(|used| used.storage.same(storage)) {
                notes.used.push(Used { storage: storage.clone(), version: storage.version(), is_written: false });
            }
            notes.before.extend(before);
            true
        }
        _ => false,
    })
}

/// Whether this thread records.
pub(crate) fn is_recording() -> bool {
    NOTES.with_borrow(Option::is_some)
}

/// Records, until it is ended or dropped.
struct Recorder {
    gpu: &'static Gpu,
    queue: Queue,
}

impl Recorder {
    fn begin(gpu: &'static Gpu, queue: Queue) -> Result<Self> {
        gpu.machine.begin_recording(queue)?;
        NOTES.set(Some(Notes { queue, used: Vec::new(), before: Vec::new() }));
        Ok(Self { gpu, queue })
    }

    fn end(&mut self) -> Option<(Notes, Result<Recording, CudaError>)> {
        NOTES.take().map(|notes| (notes, self.gpu.machine.end_recording(self.queue)))
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        if let Some((_, Ok(recording))) = self.end() {
            self.gpu.machine.forget(recording);
        }
    }
}

impl<T> Graph<T> {
    /// Records what a closure asks of a device. It runs twice: once to compile what it needs, and once to be recorded. It may not wait for
    /// the device, as whatever brings elements to the CPU does.
    ///
    /// # Errors
    ///
    /// Where the closure fails, or does what cannot be recorded.
    pub fn record(device: Device, mut work: impl FnMut() -> Result<T>) -> Result<Self> {
        if is_recording() {
            return Err("a recording cannot be part of another; record the closures one after the other".into());
        }
        let (first, stream) = (Stream::new(device)?, Stream::new(device)?);
        let (gpu, queue) = stream.parts();
        first.wait_for(Stream::current(device)?)?;
        {
            let _entered = first.enter();
            drop(work()?);
        }
        first.synchronize()?;
        first.give_idle_back();
        let _entered = stream.enter();
        let mut recorder = Recorder::begin(gpu, queue)?;
        let result = work()?;
        let (mut notes, recording) = recorder.end().ok_or("the recording was ended by what it recorded")?;
        let mut graph = Self { gpu, recording: recording?, stream, used: notes.used, result };
        notes.before.sort_unstable();
        notes.before.dedup();
        notes.before.into_iter().try_for_each(|before| gpu.machine.order(before, queue))?;
        graph.used.iter_mut().for_each(|used| used.is_written = used.storage.version() != used.version);
        Ok(graph)
    }

    /// Does the work again, in this thread's current stream.
    ///
    /// # Errors
    ///
    /// Where the driver fails.
    pub fn replay(&self) -> Result<(), CudaError> {
        let (current, queue) = (Stream::current(self.gpu.device())?, self.stream.parts().1);
        self.enter(queue)?;
        self.used.iter().filter(|used| used.is_written).for_each(|used| used.storage.bump_version());
        // What the closure returned may have been used in the current stream.
        self.stream.wait_for(current)?;
        self.gpu.machine.replay(self.recording, queue)?;
        // Who entered meanwhile did not see the replay.
        self.enter(queue)?;
        current.wait_for(self.stream)
    }

    fn enter(&self, queue: Queue) -> Result<(), CudaError> {
        for Used { storage, is_written, .. } in &self.used {
            if let Some(buffer) = storage.buffer::<CudaBuffer>() {
                buffer.enter(storage, queue, if *is_written { Access::Write } else { Access::Read })?;
            }
        }
        Ok(())
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
