//! CUDA graphs: the launches of a closure, recorded once and replayed as one.
//!
//! Each recording has its own stream. Memory that existed before the recording was used in other streams, so its first use in the recording
//! is detected. The graph keeps that memory alive, as each replay reads and writes the same addresses.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use dispatch_runtime::{DType, Device, Error, Generator, Result, Spec, Storage, Tensor};

use crate::device::driver::{RecordingHandle, StreamHandle};
use crate::device::gpu::Gpu;
use crate::device::memory::{CudaBuffer, RecordedBlockState};
use crate::device::stream::Stream;
use crate::device::stream_uses::Access;
use crate::engine::random_stream;
use crate::error::CudaError;
use crate::launch::Launch;
use crate::lock::lock_ignoring_poison;

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
    recording: RecordingHandle,
    stream: Stream,
    used: Vec<UsedStorage>,
    draws: Vec<RecordedDraws>,
    allocated: Mutex<Vec<Arc<RecordedBlockState>>>,
    was_replayed: AtomicBool,
    result: T,
}

/// A storage that was allocated before the recording, and that the recorded work uses.
#[derive(Debug)]
struct UsedStorage {
    storage: Storage,
    version: u64,
    is_written: bool,
}

/// The random numbers that a recording draws from one generator. Each replay draws new ones.
#[derive(Debug)]
struct RecordedDraws {
    generator: Generator,
    blocks: u64,
    /// The seed and the first block of the random stream, written to the device before each replay.
    origin: Tensor,
}

/// The state of the recording in progress on a thread.
struct RecordingState {
    stream: StreamHandle,
    used: Vec<UsedStorage>,
    draws: Vec<RecordedDraws>,
    /// Tensors for `RecordedDraws::origin` that no generator uses yet.
    origins: Vec<Tensor>,
    /// The streams that used the recording's memory earlier.
    earlier_streams: Vec<StreamHandle>,
    allocated: Vec<Arc<RecordedBlockState>>,
    entered_other_stream: bool,
}

thread_local! {
    static RECORDING_STATE: RefCell<Option<RecordingState>> = const { RefCell::new(None) };
}

/// Keeps a storage alive for the recording in `stream`. Returns false if this thread records no work in that stream.
pub(crate) fn record_storage_use(storage: &Storage, earlier_streams: &[StreamHandle], stream: StreamHandle) -> bool {
    RECORDING_STATE.with_borrow_mut(|state| match state {
        Some(state) if state.stream == stream => {
            if !state.used.iter().any(|used| used.storage.same(storage)) {
                state.used.push(UsedStorage {
                    storage: storage.clone(),
                    version: storage.version(),
                    is_written: false,
                });
            }
            state.earlier_streams.extend(earlier_streams);
            true
        }
        _ => false,
    })
}

/// Adds a block that the recording allocates to the recording in progress.
pub(crate) fn record_allocation(allocated: RecordedBlockState) -> Arc<RecordedBlockState> {
    let allocated = Arc::new(allocated);
    RECORDING_STATE.with_borrow_mut(|state| state.iter_mut().for_each(|state| state.allocated.push(allocated.clone())));
    allocated
}

/// Marks the recording in progress as invalid: the closure entered another stream, whose work is not recorded.
pub(crate) fn invalidate_recording() {
    RECORDING_STATE.with_borrow_mut(|state| state.iter_mut().for_each(|state| state.entered_other_stream = true));
}

/// Whether this thread records a graph.
pub(crate) fn is_recording() -> bool {
    RECORDING_STATE.try_with(|state| state.borrow().is_some()).unwrap_or(false)
}

/// Reserves `blocks` blocks of a generator's random stream for the recording in progress. Returns the index of the first one within a
/// replay's blocks, and the tensor that holds a replay's origin; or `None` if this thread does not record.
pub(crate) fn reserve_random_blocks(generator: &Generator, blocks: u64) -> Result<Option<(u64, Tensor)>> {
    RECORDING_STATE.with_borrow_mut(|state| {
        let Some(state) = state else { return Ok(None) };
        let known = state.draws.iter().position(|draws| draws.generator.same(generator));
        if known.is_none() {
            let too_many = || format!("a recording draws from at most {MAX_GENERATORS} generators; use fewer");
            let origin = state.origins.pop().ok_or_else(too_many)?;
            state.draws.push(RecordedDraws { generator: generator.clone(), blocks: 0, origin });
        }
        let at = known.unwrap_or(state.draws.len() - 1);
        let draws = &mut state.draws[at];
        let first = draws.blocks;
        draws.blocks += blocks;
        Ok(Some((first, draws.origin.clone())))
    })
}

/// The maximum number of generators that a recording draws from. Their origins are allocated before the recording begins.
const MAX_GENERATORS: usize = 8;

/// A recording in progress. Dropping it ends the recording and discards it.
struct RecordingGuard {
    gpu: &'static Gpu,
    stream: StreamHandle,
}

impl RecordingGuard {
    fn begin(gpu: &'static Gpu, stream: StreamHandle) -> Result<Self> {
        let origins = (0..MAX_GENERATORS).map(|_| Spec::contiguous(DType::I64, &[2]).on(gpu.device()));
        let origins = origins.collect::<Result<_>>()?;
        gpu.driver.begin_recording(stream)?;
        RECORDING_STATE.set(Some(RecordingState {
            stream,
            used: Vec::new(),
            draws: Vec::new(),
            origins,
            earlier_streams: Vec::new(),
            allocated: Vec::new(),
            entered_other_stream: false,
        }));
        Ok(Self { gpu, stream })
    }

    fn end(&mut self) -> Option<(RecordingState, Result<RecordingHandle, CudaError>)> {
        let mut state = RECORDING_STATE.take()?;
        let recording = self.gpu.driver.end_recording(self.stream);
        // The next users of that memory wait for the recording's stream, so this stream waits for the earlier users, even if the recording
        // failed.
        state.earlier_streams.sort_unstable();
        state.earlier_streams.dedup();
        let ordered = self.gpu.order_after(&state.earlier_streams, self.stream);
        Some((state, ordered.and(recording)))
    }
}

impl Drop for RecordingGuard {
    fn drop(&mut self) {
        if let Some((_, Ok(recording))) = self.end() {
            self.gpu.driver.destroy_recording(recording);
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
        const ENTERED_STREAM_MESSAGE: &str =
            "the closure entered a stream, but a recording has its own stream; do not enter one in the closure";

        if is_recording() {
            return Err("a recording cannot be part of another; record the closures one after the other".into());
        }
        drop(work()?);
        Stream::current(device)?.synchronize()?;
        let stream = Stream::new(device)?;
        let (gpu, handle) = stream.gpu_and_handle();
        let _entered = stream.enter();
        let mut guard = RecordingGuard::begin(gpu, handle)?;
        let result = work()?;
        let (mut state, recording) = guard.end().ok_or("the recorded work ended the recording")?;
        // If the closure entered another stream, that stream's work may have ended the recording.
        let recording = recording.map_err(|error| {
            if state.entered_other_stream { ENTERED_STREAM_MESSAGE.into() } else { Error::from(error) }
        })?;
        // Blocks without another owner were freed within the recording.
        state.allocated.retain(|allocated| Arc::strong_count(allocated) > 1);
        state.used.iter_mut().for_each(|used| used.is_written = used.storage.version() != used.version);
        let (allocated, was_replayed) = (Mutex::new(state.allocated), AtomicBool::new(false));
        let graph =
            Self { gpu, recording, stream, used: state.used, draws: state.draws, allocated, was_replayed, result };
        if state.entered_other_stream {
            return Err(ENTERED_STREAM_MESSAGE.into());
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
            return Err("a replay cannot be part of a recording; record its closure instead".into());
        }
        let (current, mut allocated) = (Stream::current(self.gpu.device())?, lock_ignoring_poison(&self.allocated));
        let handle = current.gpu_and_handle().1;
        let before = allocated.len();
        allocated.retain(|allocated| Arc::strong_count(allocated) > 1);
        // Blocks that were freed since then were freed in the recording's stream. The first replay also waits for the work that the
        // recording was ordered after.
        let is_first = !self.was_replayed.swap(true, Ordering::AcqRel);
        if is_first || allocated.len() < before {
            current.wait_for(self.stream)?;
        }
        self.order_after_earlier_work(&allocated, handle)?;
        self.used.iter().filter(|used| used.is_written).for_each(|used| used.storage.bump_version());
        for RecordedDraws { generator, blocks, origin } in &self.draws {
            random_stream::write_replay_origin(Launch { gpu: self.gpu, stream: handle }, generator, *blocks, origin)?;
        }
        self.gpu.driver.replay(self.recording, handle)?;
        // Another thread may have used the memory between the first call and the replay. It did not wait for the replay, so the
        // order is made again.
        self.order_after_earlier_work(&allocated, handle)?;
        allocated.iter().for_each(|allocated| allocated.mark_as_allocated());
        Ok(())
    }

    /// Orders a replay after the earlier work on the same memory.
    fn order_after_earlier_work(
        &self,
        allocated: &[Arc<RecordedBlockState>],
        stream: StreamHandle,
    ) -> Result<(), CudaError> {
        for UsedStorage { storage, is_written, .. } in &self.used {
            if let Some(buffer) = storage.buffer::<CudaBuffer>() {
                buffer.ordered_address(storage, stream, if *is_written { Access::Write } else { Access::Read })?;
            }
        }
        allocated.iter().try_for_each(|allocated| allocated.order_replay(self.gpu, stream))
    }

    /// Returns the closure's result. Each replay overwrites its tensors.
    #[must_use]
    pub fn result(&self) -> &T {
        &self.result
    }
}

impl<T> Drop for Graph<T> {
    fn drop(&mut self) {
        self.gpu.driver.destroy_recording(self.recording);
    }
}
