//! An emulated device: the CPU runs kernels that the system's C++ compiler compiled.
//!
//! It is for tests on machines without a GPU. Everything above the `DeviceDriver` trait is the same: operators, launches, parameters,
//! streams. Work is deferred until the program waits for its stream, and then only the work before that point runs. So results are wrong if
//! a stream should have waited for another one, or if memory was reused too early. The emulator cannot show errors that depend on the
//! parallel execution of threads, nor speed.
#![expect(unsafe_code, reason = "compiled kernels are loaded and run in this process")]

mod build;
mod deferred_work;
mod guarded_block;

use std::alloc::{Layout, alloc_zeroed};
use std::cell::Cell;
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use libloading::Library;

use self::build::{COMPILER_VERSION, compile_error, compiled_library};
use self::deferred_work::{
    DeferredWork, EmulatorState, ParameterSizesFunction, RecordedWork, RunKernelFunction, WorkStep,
};
use self::guarded_block::{GUARD_BYTES, GuardedBlock, pointer_to_address};
use crate::compile::source::Source;
use crate::device::driver::{
    DeviceAddress, DeviceDriver, DeviceProperties, EntryPoint, EventHandle, FunctionHandle, Grid, Module,
    RecordingHandle, StreamHandle,
};
use crate::error::CudaError;
use crate::lock::lock_ignoring_poison;

/// The number of emulated devices: two, so that a tensor can be on the wrong one.
pub(crate) const DEVICE_COUNT: usize = 2;

static EMULATOR_IS_ENABLED: AtomicBool = AtomicBool::new(false);
thread_local! {
    static REVERSE_ORDER: Cell<bool> = const { Cell::new(false) };
}

/// Replaces NVIDIA's driver by the emulator, for this process. Returns false and changes nothing if there is no C++ compiler (`c++`, or the
/// one that `CXX` names). Call it before any other use of a device.
///
/// ```
/// assert_eq!(kernels_cuda::emulate(), kernels_cuda::is_available());
/// ```
#[must_use = "there may be no compiler"]
pub fn emulate() -> bool {
    if COMPILER_VERSION.is_some() {
        EMULATOR_IS_ENABLED.store(true, Ordering::Release);
    }
    COMPILER_VERSION.is_some()
}

/// Sets whether the blocks and threads of this thread's next launches run in reverse order. If that changes a result, a kernel lacks a
/// barrier.
pub fn emulate_reverse_order(reversed: bool) {
    REVERSE_ORDER.set(reversed);
}

static MEMORY_LIMIT: AtomicUsize = AtomicUsize::new(usize::MAX);

/// Limits the memory of an emulated device to `bytes` bytes from now on.
pub fn emulate_memory_limit(bytes: usize) {
    MEMORY_LIMIT.store(bytes, Ordering::Release);
}

pub(crate) fn is_enabled() -> bool {
    EMULATOR_IS_ENABLED.load(Ordering::Acquire)
}

pub(crate) struct Emulator {
    properties: DeviceProperties,
    state: Mutex<EmulatorState>,
}

impl Emulator {
    pub(crate) fn open() -> Self {
        let properties = DeviceProperties {
            name: "the emulator".to_owned(),
            architecture: 0,
            multiprocessors: 4,
            memory: usize::MAX,
            // The limit of sm_80, the smallest of the supported architectures.
            shared_memory: 163 << 10,
        };
        Self { properties, state: Mutex::default() }
    }

    fn lock_state(&self) -> MutexGuard<'_, EmulatorState> {
        lock_ignoring_poison(&self.state)
    }
}

impl DeviceDriver for Emulator {
    fn properties(&self) -> &DeviceProperties {
        &self.properties
    }

    fn supports_vendor_libraries(&self) -> bool {
        false
    }

    fn make_current(&self) -> Result<(), CudaError> {
        Ok(())
    }

    fn create_stream(&self) -> Result<StreamHandle, CudaError> {
        let mut state = self.lock_state();
        state.streams.push(DeferredWork::default());
        Ok(state.streams.len())
    }

    fn synchronize(&self, stream: StreamHandle) -> Result<(), CudaError> {
        let mut state = self.lock_state();
        state.check_not_recording("synchronize", &[stream])?;
        let end = state.end_of_stream(stream);
        state.run_until(end);
        Ok(())
    }

    fn make_stream_wait(&self, first: StreamHandle, then: StreamHandle) -> Result<(), CudaError> {
        let mut state = self.lock_state();
        state.check_not_recording("make_stream_wait", &[then])?;
        // No work runs in a stream that is being recorded.
        if state.check_not_recording("make_stream_wait", &[first]).is_err() {
            return Ok(());
        }
        let end = state.end_of_stream(first);
        state.add_step(then, WorkStep::Wait(end));
        Ok(())
    }

    fn allocate(&self, bytes: usize, stream: StreamHandle) -> Result<DeviceAddress, CudaError> {
        let out_of_memory = || CudaError::OutOfMemory { requested: bytes, total: self.properties.memory };
        let mut state = self.lock_state();
        let reserved =
            state.reserved.checked_add(bytes).filter(|reserved| *reserved <= MEMORY_LIMIT.load(Ordering::Acquire));
        let reserved = reserved.ok_or_else(out_of_memory)?;
        let block =
            GuardedBlock::layout_with_guards(bytes).and_then(GuardedBlock::allocate).ok_or_else(out_of_memory)?;
        state.reserved = reserved;
        if let Some(work) = state.recording.get_mut(&stream) {
            work.allocated.push(block);
        }
        Ok(block)
    }

    fn free(&self, address: DeviceAddress, stream: StreamHandle) {
        let mut state = self.lock_state();
        let Some(work) = state.recording.get_mut(&stream) else {
            return state.add_step(stream, WorkStep::Free(address));
        };
        assert!(work.allocated.contains(&address), "a recording frees memory that it did not allocate");
        work.freed.push(address);
        state.reserved -= GuardedBlock::size(address);
    }

    fn release_free_memory(&self) -> Result<(), CudaError> {
        Ok(())
    }

    fn reserved_bytes(&self) -> usize {
        self.lock_state().reserved
    }

    fn note_allocated(&self, block: DeviceAddress, bytes: usize, stream: StreamHandle) {
        self.lock_state().add_step(stream, WorkStep::NoteAllocated { block, bytes });
    }

    fn note_freed(&self, block: DeviceAddress, stream: StreamHandle) {
        self.lock_state().add_step(stream, WorkStep::NoteFreed(block));
    }

    fn copy_host_to_device(
        &self,
        from: NonNull<u8>,
        to: DeviceAddress,
        bytes: usize,
        stream: StreamHandle,
    ) -> Result<(), CudaError> {
        self.copy_on_device(pointer_to_address(from), to, bytes, stream)
    }

    fn copy_device_to_host(
        &self,
        from: DeviceAddress,
        to: NonNull<u8>,
        bytes: usize,
        stream: StreamHandle,
    ) -> Result<(), CudaError> {
        self.copy_on_device(from, pointer_to_address(to), bytes, stream)
    }

    fn copy_on_device(
        &self,
        from: DeviceAddress,
        to: DeviceAddress,
        bytes: usize,
        stream: StreamHandle,
    ) -> Result<(), CudaError> {
        self.lock_state().add_step(stream, WorkStep::Copy { from, to, bytes });
        Ok(())
    }

    fn fill_bytes(&self, to: DeviceAddress, byte: u8, bytes: usize, stream: StreamHandle) -> Result<(), CudaError> {
        self.lock_state().add_step(stream, WorkStep::Fill { to, byte, bytes });
        Ok(())
    }

    fn allocate_pinned(&self, bytes: usize) -> Result<NonNull<u8>, CudaError> {
        let out_of_memory = || CudaError::OutOfMemory { requested: bytes, total: self.properties.memory };
        let block = Layout::from_size_align(bytes, GUARD_BYTES).ok().filter(|layout| layout.size() > 0);
        // SAFETY: the layout's size is not zero.
        block.and_then(|layout| NonNull::new(unsafe { alloc_zeroed(layout) })).ok_or_else(out_of_memory)
    }

    fn record_event(&self, stream: StreamHandle) -> Result<EventHandle, CudaError> {
        let mut state = self.lock_state();
        state.check_not_recording("record_event", &[stream])?;
        Ok(state.record_event(stream))
    }

    fn record_events(&self, streams: &[StreamHandle]) -> Result<Vec<EventHandle>, CudaError> {
        let mut state = self.lock_state();
        let running: Vec<StreamHandle> =
            streams.iter().copied().filter(|stream| !state.recording.contains_key(stream)).collect();
        Ok(running.into_iter().map(|stream| state.record_event(stream)).collect())
    }

    fn is_event_complete(&self, event: EventHandle) -> bool {
        let state = self.lock_state();
        state.events.get(&event).is_none_or(|position| state.has_reached(*position))
    }

    fn wait_for_event(&self, event: EventHandle) {
        let mut state = self.lock_state();
        if let Some(position) = state.events.get(&event).copied() {
            state.run_until(position);
        }
    }

    fn destroy_event(&self, event: EventHandle) {
        let mut state = self.lock_state();
        state.events.remove(&event);
        state.event_times.remove(&event);
    }

    fn record_timed_event(&self, stream: StreamHandle) -> Result<EventHandle, CudaError> {
        // Deferred work has no time, so it runs now.
        self.synchronize(stream)?;
        let mut state = self.lock_state();
        let event = state.record_event(stream);
        state.event_times.insert(event, Instant::now());
        Ok(event)
    }

    fn elapsed_time(&self, first: EventHandle, last: EventHandle) -> Result<Duration, CudaError> {
        let state = self.lock_state();
        let [first, last] = [first, last].map(|event| state.event_times.get(&event).copied());
        Ok(last.zip(first).map_or(Duration::ZERO, |(last, first)| last.saturating_duration_since(first)))
    }

    fn load_modules(&self, source: &Source, expressions: &[String]) -> Result<Vec<Module>, CudaError> {
        let library = compiled_library(source, expressions)?;
        // SAFETY: the library was compiled from a kernel's text, which promises to have no initialisers (`Kernel::new`), and from the shim,
        // which has none.
        let library = unsafe { Library::new(library) }.map_err(|error| compile_error(source, error.to_string()))?;
        // Functions are never unloaded, so the library stays loaded.
        let code = std::ptr::from_ref(Box::leak(Box::new(library))).expose_provenance();
        let names = expressions.iter().enumerate().map(|(at, expression)| (expression.clone(), at.to_string()));
        Ok(vec![Module { code, names: names.collect() }])
    }

    fn prefers_compiling_all(&self) -> bool {
        true
    }

    fn entry_point(&self, code: usize, name: &str) -> Result<EntryPoint, CudaError> {
        // SAFETY: `load` returned the library's address, and the library is never unloaded.
        let library = unsafe { &*std::ptr::with_exposed_provenance::<Library>(code) };
        let missing = |error: libloading::Error| CudaError::Driver { call: "dlsym", message: error.to_string() };
        // SAFETY: `program_text` writes the function with this type.
        let run = unsafe { library.get::<RunKernelFunction>(format!("run_{name}").as_bytes()) }.map_err(missing)?;
        // SAFETY: `program_text` writes this function with this type, too.
        let sizes =
            unsafe { library.get::<ParameterSizesFunction>(format!("sizes_{name}").as_bytes()) }.map_err(missing)?;
        // SAFETY: the function has no preconditions. It returns a list that belongs to the library and ends with a zero.
        let parameters = unsafe {
            let first = sizes();
            let mut count = 0;
            while *first.add(count) != 0 {
                count += 1;
            }
            std::slice::from_raw_parts(first, count).into()
        };
        Ok(EntryPoint { function: *run as usize, parameters })
    }

    unsafe fn launch(
        &self,
        entry: &EntryPoint,
        grid: Grid,
        parameters: &mut [*mut c_void],
        stream: StreamHandle,
    ) -> Result<(), CudaError> {
        let value = |(pointer, size): (&*mut c_void, &usize)| {
            // `u128` has an alignment that is sufficient for a value of any parameter type.
            let mut words = vec![MaybeUninit::<u128>::uninit(); size.div_ceil(size_of::<u128>())];
            // SAFETY: the caller passed a pointer to a value of this size. Padding bytes may be uninitialised, and are copied as such.
            unsafe { pointer.cast::<u8>().cast_const().copy_to_nonoverlapping(words.as_mut_ptr().cast(), *size) };
            words
        };
        let parameters = parameters.iter().zip(&entry.parameters).map(value).collect();
        let reversed = REVERSE_ORDER.get();
        self.lock_state().add_step(stream, WorkStep::Launch { function: entry.function, grid, parameters, reversed });
        Ok(())
    }

    fn allow_shared_memory(&self, _: FunctionHandle, _: u32) -> Result<(), CudaError> {
        Ok(())
    }

    fn begin_recording(&self, stream: StreamHandle) -> Result<(), CudaError> {
        self.lock_state().recording.insert(stream, RecordedWork::default());
        Ok(())
    }

    fn end_recording(&self, stream: StreamHandle) -> Result<RecordingHandle, CudaError> {
        let mut state = self.lock_state();
        let work = state.recording.remove(&stream).unwrap_or_default();
        state.recordings.push(Arc::new(work));
        Ok(state.recordings.len() - 1)
    }

    fn replay(&self, recording: RecordingHandle, stream: StreamHandle) -> Result<(), CudaError> {
        let mut state = self.lock_state();
        if let Some(work) = state.recordings.get(recording).cloned() {
            state.add_step(stream, WorkStep::Replay(work));
        }
        Ok(())
    }

    fn destroy_recording(&self, recording: RecordingHandle) {
        if let Some(work) = self.lock_state().recordings.get_mut(recording) {
            *work = Arc::default();
        }
    }
}
