//! An emulated device: the CPU runs kernels that the system's C++ compiler compiled.
//!
//! It is for tests on machines without a GPU. Everything above the `Machine` trait is the same: operators, launches, parameters, streams.
//! Work is deferred until the program waits for its queue, and then only the work before that point runs. So results are wrong if a queue
//! should have waited for another one, or if memory was reused too early. The emulator cannot show errors that depend on the parallel
//! execution of threads, nor speed.
#![expect(unsafe_code, reason = "compiled kernels are loaded and run in this process")]

mod block;
mod build;
mod work;

use std::alloc::{Layout, alloc_zeroed};
use std::cell::Cell;
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use libloading::Library;

use self::block::{Block, LINE, address};
use self::build::{COMPILER, compiled, refused};
use self::work::{Pending, Recorded, Run, Sizes, State, Step};
use crate::compile::source::Source;
use crate::device::machine::{Address, Entry, Function, Grid, Machine, Mark, Module, Properties, Queue, Recording};
use crate::error::CudaError;
use crate::lock::locked;

/// The number of emulated devices: two, so that a tensor can be on the wrong one.
pub(crate) const DEVICES: usize = 2;

static ON: AtomicBool = AtomicBool::new(false);
thread_local! {
    static BACKWARDS: Cell<bool> = const { Cell::new(false) };
}

/// Replaces NVIDIA's driver by the emulator, for this process. Returns false and changes nothing if there is no C++ compiler (`c++`, or the
/// one that `CXX` names). Call it before any other use of a device.
///
/// ```
/// assert_eq!(kernels_cuda::emulate(), kernels_cuda::is_available());
/// ```
#[must_use = "there may be no compiler"]
pub fn emulate() -> bool {
    if COMPILER.is_some() {
        ON.store(true, Ordering::Release);
    }
    COMPILER.is_some()
}

/// Sets whether the blocks and threads of this thread's next launches run in reverse order. If that changes a result, a kernel lacks a
/// barrier.
pub fn emulate_backwards(backwards: bool) {
    BACKWARDS.set(backwards);
}

static MEMORY: AtomicUsize = AtomicUsize::new(usize::MAX);

/// Limits the memory of an emulated device to `bytes` bytes from now on.
pub fn emulate_memory(bytes: usize) {
    MEMORY.store(bytes, Ordering::Release);
}

pub(crate) fn is_on() -> bool {
    ON.load(Ordering::Acquire)
}

pub(crate) struct Emulator {
    properties: Properties,
    state: Mutex<State>,
}

impl Emulator {
    pub(crate) fn open() -> Self {
        let properties = Properties {
            name: "the CPU, emulating".to_owned(),
            architecture: 0,
            multiprocessors: 4,
            memory: usize::MAX,
            // The limit of sm_80, the smallest of the supported architectures.
            shared: 163 << 10,
        };
        Self { properties, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }
}

impl Machine for Emulator {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn has_libraries(&self) -> bool {
        false
    }

    fn make_current(&self) -> Result<(), CudaError> {
        Ok(())
    }

    fn open_queue(&self) -> Result<Queue, CudaError> {
        let mut state = self.state();
        state.queues.push(Pending::default());
        Ok(state.queues.len())
    }

    fn wait(&self, queue: Queue) -> Result<(), CudaError> {
        let mut state = self.state();
        state.check_apart_from_recording("wait", &[queue])?;
        let end = state.end(queue);
        state.reach(end);
        Ok(())
    }

    fn order(&self, first: Queue, then: Queue) -> Result<(), CudaError> {
        let mut state = self.state();
        state.check_apart_from_recording("order", &[then])?;
        // No work runs in a queue that is being recorded.
        if state.check_apart_from_recording("order", &[first]).is_err() {
            return Ok(());
        }
        let end = state.end(first);
        state.work(then, Step::Wait(end));
        Ok(())
    }

    fn allocate(&self, bytes: usize, queue: Queue) -> Result<Address, CudaError> {
        let out_of_memory = || CudaError::OutOfMemory { asked: bytes, total: self.properties.memory };
        let mut state = self.state();
        let reserved = state.reserved.checked_add(bytes).filter(|reserved| *reserved <= MEMORY.load(Ordering::Acquire));
        let reserved = reserved.ok_or_else(out_of_memory)?;
        let block = Block::layout(bytes).and_then(Block::allocate).ok_or_else(out_of_memory)?;
        state.reserved = reserved;
        if let Some(work) = state.recording.get_mut(&queue) {
            work.taken.push(block);
        }
        Ok(block)
    }

    fn free(&self, address: Address, queue: Queue) {
        let mut state = self.state();
        let Some(work) = state.recording.get_mut(&queue) else { return state.work(queue, Step::Free(address)) };
        assert!(work.taken.contains(&address), "a recording gives back memory that was there before");
        work.held.push(address);
        state.reserved -= Block::bytes(address);
    }

    fn trim(&self) -> Result<(), CudaError> {
        Ok(())
    }

    fn reserved(&self) -> usize {
        self.state().reserved
    }

    fn lend(&self, block: Address, bytes: usize, queue: Queue) {
        self.state().work(queue, Step::Lend { block, bytes });
    }

    fn take_back(&self, block: Address, queue: Queue) {
        self.state().work(queue, Step::TakeBack(block));
    }

    fn copy_in(&self, from: NonNull<u8>, to: Address, bytes: usize, queue: Queue) -> Result<(), CudaError> {
        self.copy(address(from), to, bytes, queue)
    }

    fn copy_out(&self, from: Address, to: NonNull<u8>, bytes: usize, queue: Queue) -> Result<(), CudaError> {
        self.copy(from, address(to), bytes, queue)
    }

    fn copy(&self, from: Address, to: Address, bytes: usize, queue: Queue) -> Result<(), CudaError> {
        self.state().work(queue, Step::Copy { from, to, bytes });
        Ok(())
    }

    fn fill(&self, to: Address, byte: u8, bytes: usize, queue: Queue) -> Result<(), CudaError> {
        self.state().work(queue, Step::Fill { to, byte, bytes });
        Ok(())
    }

    fn pin(&self, bytes: usize) -> Result<NonNull<u8>, CudaError> {
        let out_of_memory = || CudaError::OutOfMemory { asked: bytes, total: self.properties.memory };
        let block = Layout::from_size_align(bytes, LINE).ok().filter(|layout| layout.size() > 0);
        // SAFETY: the layout's size is not zero.
        block.and_then(|layout| NonNull::new(unsafe { alloc_zeroed(layout) })).ok_or_else(out_of_memory)
    }

    fn mark(&self, queue: Queue) -> Result<Mark, CudaError> {
        let mut state = self.state();
        state.check_apart_from_recording("mark", &[queue])?;
        Ok(state.mark(queue))
    }

    fn mark_all(&self, queues: &[Queue]) -> Result<Vec<Mark>, CudaError> {
        let mut state = self.state();
        let running: Vec<Queue> = queues.iter().copied().filter(|queue| !state.recording.contains_key(queue)).collect();
        Ok(running.into_iter().map(|queue| state.mark(queue)).collect())
    }

    fn has_passed(&self, mark: Mark) -> bool {
        let state = self.state();
        state.marks.get(&mark).is_none_or(|spot| state.has_reached(*spot))
    }

    fn wait_for(&self, mark: Mark) {
        let mut state = self.state();
        if let Some(spot) = state.marks.get(&mark).copied() {
            state.reach(spot);
        }
    }

    fn unmark(&self, mark: Mark) {
        let mut state = self.state();
        state.marks.remove(&mark);
        state.times.remove(&mark);
    }

    fn mark_with_time(&self, queue: Queue) -> Result<Mark, CudaError> {
        // Deferred work has no time, so it runs now.
        self.wait(queue)?;
        let mut state = self.state();
        let mark = state.mark(queue);
        state.times.insert(mark, Instant::now());
        Ok(mark)
    }

    fn time_between(&self, first: Mark, last: Mark) -> Result<Duration, CudaError> {
        let state = self.state();
        let [first, last] = [first, last].map(|mark| state.times.get(&mark).copied());
        Ok(last.zip(first).map_or(Duration::ZERO, |(last, first)| last.saturating_duration_since(first)))
    }

    fn load(&self, source: &Source, expressions: &[String]) -> Result<Vec<Module>, CudaError> {
        let library = compiled(source, expressions)?;
        // SAFETY: the library was compiled from a kernel's text, which promises to have no initialisers (`Kernel::new`), and from the shim,
        // which has none.
        let library = unsafe { Library::new(library) }.map_err(|error| refused(source, error.to_string()))?;
        // Functions are never unloaded, so the library stays loaded.
        let code = std::ptr::from_ref(Box::leak(Box::new(library))).expose_provenance();
        let names = expressions.iter().enumerate().map(|(at, expression)| (expression.clone(), at.to_string()));
        Ok(vec![Module { code, names: names.collect() }])
    }

    fn compiles_together(&self) -> bool {
        true
    }

    fn entry(&self, code: usize, name: &str) -> Result<Entry, CudaError> {
        // SAFETY: `load` returned the library's address, and the library is never unloaded.
        let library = unsafe { &*std::ptr::with_exposed_provenance::<Library>(code) };
        let missing = |error: libloading::Error| CudaError::Driver { call: "dlsym", said: error.to_string() };
        // SAFETY: `program` writes the function with this type.
        let run = unsafe { library.get::<Run>(format!("run_{name}").as_bytes()) }.map_err(missing)?;
        // SAFETY: `program` writes this function with this type, too.
        let sizes = unsafe { library.get::<Sizes>(format!("sizes_{name}").as_bytes()) }.map_err(missing)?;
        // SAFETY: the function has no preconditions. It returns a list that belongs to the library and ends with a zero.
        let parameters = unsafe {
            let first = sizes();
            let mut count = 0;
            while *first.add(count) != 0 {
                count += 1;
            }
            std::slice::from_raw_parts(first, count).into()
        };
        Ok(Entry { function: *run as usize, parameters })
    }

    unsafe fn launch(
        &self,
        entry: &Entry,
        grid: Grid,
        parameters: &mut [*mut c_void],
        queue: Queue,
    ) -> Result<(), CudaError> {
        let value = |(place, size): (&*mut c_void, &usize)| {
            // `u128` has an alignment that is sufficient for a value of any parameter type.
            let mut words = vec![MaybeUninit::<u128>::uninit(); size.div_ceil(size_of::<u128>())];
            // SAFETY: the caller passed a pointer to a value of this size. Padding bytes may be uninitialised, and are copied as such.
            unsafe { place.cast::<u8>().cast_const().copy_to_nonoverlapping(words.as_mut_ptr().cast(), *size) };
            words
        };
        let parameters = parameters.iter().zip(&entry.parameters).map(value).collect();
        let backwards = BACKWARDS.get();
        self.state().work(queue, Step::Launch { function: entry.function, grid, parameters, backwards });
        Ok(())
    }

    fn allow_shared(&self, _: Function, _: u32) -> Result<(), CudaError> {
        Ok(())
    }

    fn begin_recording(&self, queue: Queue) -> Result<(), CudaError> {
        self.state().recording.insert(queue, Recorded::default());
        Ok(())
    }

    fn end_recording(&self, queue: Queue) -> Result<Recording, CudaError> {
        let mut state = self.state();
        let work = state.recording.remove(&queue).unwrap_or_default();
        state.recordings.push(Arc::new(work));
        Ok(state.recordings.len() - 1)
    }

    fn replay(&self, recording: Recording, queue: Queue) -> Result<(), CudaError> {
        let mut state = self.state();
        if let Some(work) = state.recordings.get(recording).cloned() {
            state.work(queue, Step::Replay(work));
        }
        Ok(())
    }

    fn forget(&self, recording: Recording) {
        if let Some(work) = self.state().recordings.get_mut(recording) {
            *work = Arc::default();
        }
    }
}
