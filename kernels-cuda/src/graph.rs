//! CUDA graphs: the launches of a closure, recorded once and replayed as one.
//!
//! Each recording has its own stream. Memory that existed before the recording was used in other streams, so its first use in the recording
//! is detected. The graph keeps that memory alive, as each replay reads and writes the same addresses.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use dispatch_runtime::{DType, Device, Error, Generator, Result, Spec, Storage, Tensor};

use crate::device::gpu::Gpu;
use crate::device::machine::{Queue, Recording};
use crate::device::memory::{CudaBuffer, RecordedBlock};
use crate::device::stream::Stream;
use crate::device::stream_uses::Access;
use crate::engine::random_stream;
use crate::error::CudaError;
use crate::launch::Launch;
use crate::lock::locked;

/// The recorded launches of a closure, and the closure's result.
///
/// A replay reads the current elements of the tensors that the closure read, and overwrites the tensors that it wrote. To compute with new
/// inputs, copy them into the input tensors with `copy_`.
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
/// graph.replay()?;                                    // each element of the result is 9
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
    draws: Vec<Draws>,
    made: Mutex<Vec<Arc<RecordedBlock>>>,
    was_replayed: AtomicBool,
    result: T,
}

/// Memory that was allocated before the recording.
#[derive(Debug)]
struct Used {
    storage: Storage,
    version: u64,
    is_written: bool,
}

/// The random numbers that a recording draws from one generator. Each replay draws new ones.
#[derive(Debug)]
struct Draws {
    generator: Generator,
    blocks: u64,
    /// The seed and the first block of the random stream, written to the device before each replay.
    origin: Tensor,
}

/// The state of the recording in progress on a thread.
struct Notes {
    queue: Queue,
    used: Vec<Used>,
    draws: Vec<Draws>,
    /// Tensors for `Draws::origin` that no generator uses yet.
    origins: Vec<Tensor>,
    /// The streams that used the recording's memory earlier.
    before: Vec<Queue>,
    made: Vec<Arc<RecordedBlock>>,
    left_its_stream: bool,
}

thread_local! {
    static NOTES: RefCell<Option<Notes>> = const { RefCell::new(None) };
}

/// Keeps a storage alive for the recording in `queue`. Returns false if this thread records no work in that queue.
pub(crate) fn record_use(storage: &Storage, before: &[Queue], queue: Queue) -> bool {
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

/// Adds a block that the recording allocates to the recording in progress.
pub(crate) fn record_allocation(made: RecordedBlock) -> Arc<RecordedBlock> {
    let made = Arc::new(made);
    NOTES.with_borrow_mut(|notes| notes.iter_mut().for_each(|notes| notes.made.push(made.clone())));
    made
}

/// Marks the recording in progress as invalid: the closure entered another stream, whose work is not recorded.
pub(crate) fn leaves_its_stream() {
    NOTES.with_borrow_mut(|notes| notes.iter_mut().for_each(|notes| notes.left_its_stream = true));
}

/// Whether this thread records a graph.
pub(crate) fn is_recording() -> bool {
    NOTES.try_with(|notes| notes.borrow().is_some()).unwrap_or(false)
}

/// Reserves `blocks` blocks of a generator's random stream for the recording in progress. Returns the index of the first one within a
/// replay's blocks, and the tensor that holds a replay's origin; or `None` if this thread does not record.
pub(crate) fn draws(generator: &Generator, blocks: u64) -> Result<Option<(u64, Tensor)>> {
    NOTES.with_borrow_mut(|notes| {
        let Some(notes) = notes else { return Ok(None) };
        let known = notes.draws.iter().position(|draws| draws.generator.same(generator));
        if known.is_none() {
            let many = || format!("a recording draws from at most {GENERATORS} generators; share some");
            let origin = notes.origins.pop().ok_or_else(many)?;
            notes.draws.push(Draws { generator: generator.clone(), blocks: 0, origin });
        }
        let at = known.unwrap_or(notes.draws.len() - 1);
        let draws = &mut notes.draws[at];
        let first = draws.blocks;
        draws.blocks += blocks;
        Ok(Some((first, draws.origin.clone())))
    })
}

/// The maximum number of generators that a recording draws from. Their origins are allocated before the recording begins.
const GENERATORS: usize = 8;

/// A recording in progress. Dropping it ends the recording and discards it.
struct Recorder {
    gpu: &'static Gpu,
    queue: Queue,
}

impl Recorder {
    fn begin(gpu: &'static Gpu, queue: Queue) -> Result<Self> {
        let origins = (0..GENERATORS).map(|_| Spec::contiguous(DType::I64, &[2]).on(gpu.device()));
        let origins = origins.collect::<Result<_>>()?;
        gpu.machine.begin_recording(queue)?;
        NOTES.set(Some(Notes {
            queue,
            used: Vec::new(),
            draws: Vec::new(),
            origins,
            before: Vec::new(),
            made: Vec::new(),
            left_its_stream: false,
        }));
        Ok(Self { gpu, queue })
    }

    fn end(&mut self) -> Option<(Notes, Result<Recording, CudaError>)> {
        let mut notes = NOTES.take()?;
        let recording = self.gpu.machine.end_recording(self.queue);
        // The next users of that memory wait for the recording's stream, so this stream waits for the earlier users, even if the recording
        // failed.
        notes.before.sort_unstable();
        notes.before.dedup();
        let ordered = self.gpu.order(&notes.before, self.queue);
        Some((notes, ordered.and(recording)))
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
    /// Records the device's work of a closure. The closure runs twice: first to compile its kernels, then to be recorded. It must not wait
    /// for the device; copying elements to the CPU does.
    ///
    /// # Errors
    ///
    /// Returns an error if the closure fails, or if it does something that cannot be recorded.
    pub fn record(device: Device, mut work: impl FnMut() -> Result<T>) -> Result<Self> {
        const ENTERED: &str = "the closure entered a stream, and a recording has one of its own; enter none";

        if is_recording() {
            return Err("a recording cannot be part of another; record the closures one after the other".into());
        }
        drop(work()?);
        Stream::current(device)?.synchronize()?;
        let stream = Stream::new(device)?;
        let (gpu, queue) = stream.parts();
        let _entered = stream.enter();
        let mut recorder = Recorder::begin(gpu, queue)?;
        let result = work()?;
        let (mut notes, recording) = recorder.end().ok_or("the recording was ended by what it recorded")?;
        // Work in the other stream may have ended the recording.
        let recording =
            recording.map_err(|error| if notes.left_its_stream { ENTERED.into() } else { Error::from(error) })?;
        // Blocks without another owner were freed within the recording.
        notes.made.retain(|made| Arc::strong_count(made) > 1);
        notes.used.iter_mut().for_each(|used| used.is_written = used.storage.version() != used.version);
        let (made, was_replayed) = (Mutex::new(notes.made), AtomicBool::new(false));
        let graph = Self { gpu, recording, stream, used: notes.used, draws: notes.draws, made, was_replayed, result };
        if notes.left_its_stream {
            return Err(ENTERED.into());
        }
        Ok(graph)
    }

    /// Runs the recorded work again, in this thread's current stream.
    ///
    /// # Errors
    ///
    /// Returns an error if this thread is recording, or if the driver fails.
    pub fn replay(&self) -> Result<()> {
        if is_recording() {
            return Err("a replay cannot be part of a recording; record what it recorded".into());
        }
        let (current, mut made) = (Stream::current(self.gpu.device())?, locked(&self.made));
        let queue = current.parts().1;
        let before = made.len();
        made.retain(|made| Arc::strong_count(made) > 1);
        // Blocks that were freed since then were freed in the recording's stream. The first replay also waits for the work that the
        // recording was ordered after.
        let is_first = !self.was_replayed.swap(true, Ordering::AcqRel);
        if is_first || made.len() < before {
            current.wait_for(self.stream)?;
        }
        self.enter(&made, queue)?;
        self.used.iter().filter(|used| used.is_written).for_each(|used| used.storage.bump_version());
        for Draws { generator, blocks, origin } in &self.draws {
            random_stream::begin(Launch { gpu: self.gpu, queue }, generator, *blocks, origin)?;
        }
        self.gpu.machine.replay(self.recording, queue)?;
        // Another thread may have used the memory between the first `enter` and the replay. It did not wait for the replay, so the uses are
        // entered again.
        self.enter(&made, queue)?;
        made.iter().for_each(|made| made.is_there_now());
        Ok(())
    }

    /// Orders a replay after the earlier work on the same memory.
    fn enter(&self, made: &[Arc<RecordedBlock>], queue: Queue) -> Result<(), CudaError> {
        for Used { storage, is_written, .. } in &self.used {
            if let Some(buffer) = storage.buffer::<CudaBuffer>() {
                buffer.enter(storage, queue, if *is_written { Access::Write } else { Access::Read })?;
            }
        }
        made.iter().try_for_each(|made| made.enter(self.gpu, queue))
    }

    /// Returns the closure's result. Each replay overwrites its tensors.
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
