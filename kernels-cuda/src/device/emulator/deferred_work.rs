//! Deferred work of the emulator's streams, which runs when the program waits for it.

use std::collections::{HashMap, VecDeque};
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::sync::Arc;
use std::time::Instant;

use super::guarded_block::{GuardedBlock, address_to_pointer};
use crate::device::driver::{DeviceAddress, EventHandle, FunctionHandle, Grid, StreamHandle};
use crate::error::CudaError;

#[derive(Default)]
pub(super) struct EmulatorState {
    /// The deferred work of each stream. The first stream has number 1.
    pub(super) streams: Vec<DeferredWork>,
    pub(super) events: HashMap<EventHandle, StreamPosition>,
    pub(super) event_times: HashMap<EventHandle, Instant>,
    events_created: usize,
    pub(super) recordings: Vec<Arc<RecordedWork>>,
    /// The recordings in progress, by stream.
    pub(super) recording: HashMap<StreamHandle, RecordedWork>,
    /// The total size of the allocated blocks in bytes.
    pub(super) reserved: usize,
}

#[derive(Default)]
pub(super) struct DeferredWork {
    done: usize,
    steps: VecDeque<WorkStep>,
}

/// A point in a stream's work, as the number of steps before it.
#[derive(Clone, Copy)]
pub(super) struct StreamPosition {
    stream: StreamHandle,
    steps: usize,
}

/// Recorded steps, and the memory that they allocated and freed: each replay uses the same memory.
#[derive(Default)]
pub(super) struct RecordedWork {
    steps: Vec<WorkStep>,
    pub(super) allocated: Vec<DeviceAddress>,
    pub(super) freed: Vec<DeviceAddress>,
}

impl Drop for RecordedWork {
    fn drop(&mut self) {
        self.freed.drain(..).for_each(|block| _ = GuardedBlock::free(block));
    }
}

/// One step of a stream's work.
pub(super) enum WorkStep {
    Launch { function: FunctionHandle, grid: Grid, parameters: Vec<Vec<MaybeUninit<u128>>>, reversed: bool },
    Copy { from: DeviceAddress, to: DeviceAddress, bytes: usize },
    Fill { to: DeviceAddress, byte: u8, bytes: usize },
    Wait(StreamPosition),
    Replay(Arc<RecordedWork>),
    NoteAllocated { block: DeviceAddress, bytes: usize },
    NoteFreed(DeviceAddress),
    Free(DeviceAddress),
}

/// The maximum number of deferred steps of a stream. Beyond it they run at once.
const MAX_DEFERRED_STEPS: usize = 1000;

impl EmulatorState {
    /// Adds a step to the stream's recording if there is one, and to its deferred work otherwise.
    pub(super) fn add_step(&mut self, stream: StreamHandle, step: WorkStep) {
        if let Some(work) = self.recording.get_mut(&stream) {
            work.steps.push(step);
            return;
        }
        let pending = &mut self.streams[stream - 1];
        pending.steps.push_back(step);
        if pending.steps.len() > MAX_DEFERRED_STEPS {
            let end = self.end_of_stream(stream);
            self.run_until(end);
        }
    }

    pub(super) fn end_of_stream(&self, stream: StreamHandle) -> StreamPosition {
        let pending = &self.streams[stream - 1];
        StreamPosition { stream, steps: pending.done + pending.steps.len() }
    }

    pub(super) fn has_reached(&self, position: StreamPosition) -> bool {
        self.streams[position.stream - 1].done >= position.steps
    }

    /// Runs the stream's steps before `position`.
    pub(super) fn run_until(&mut self, position: StreamPosition) {
        while !self.has_reached(position) {
            let pending = &mut self.streams[position.stream - 1];
            let Some(step) = pending.steps.pop_front() else { break };
            pending.done += 1;
            match step {
                WorkStep::Wait(first) => self.run_until(first),
                WorkStep::Free(block) => self.reserved -= GuardedBlock::free(block),
                step => step.run(),
            }
        }
    }

    pub(super) fn record_event(&mut self, stream: StreamHandle) -> EventHandle {
        self.events_created += 1;
        self.events.insert(self.events_created, self.end_of_stream(stream));
        self.events_created
    }

    /// Returns an error if one of the streams is being recorded. The driver refuses, too, to order recorded work and other work.
    pub(super) fn check_not_recording(&self, call: &'static str, streams: &[StreamHandle]) -> Result<(), CudaError> {
        if streams.iter().any(|stream| self.recording.contains_key(stream)) {
            return Err(CudaError::Driver { call, message: "this call cannot be recorded in a graph".to_owned() });
        }
        Ok(())
    }
}

/// The functions of an instance in the shim: one runs the kernel, and one returns the sizes of its parameters.
pub(super) type RunKernelFunction = unsafe extern "C" fn(*const LaunchArguments);
pub(super) type ParameterSizesFunction = unsafe extern "C" fn() -> *const usize;

/// The shim's `struct LaunchArguments`: the arguments of a launch.
#[repr(C)]
pub(super) struct LaunchArguments {
    blocks: *const u32,
    threads: *const u32,
    shared: u32,
    reversed: bool,
    parameters: *const *const c_void,
}

impl WorkStep {
    fn run(&self) {
        match self {
            Self::Launch { function, grid, parameters, reversed } => {
                let pointers: Vec<*const c_void> = parameters.iter().map(|words| words.as_ptr().cast()).collect();
                let arguments = LaunchArguments {
                    blocks: grid.blocks.as_ptr(),
                    threads: grid.threads.as_ptr(),
                    shared: grid.shared_memory,
                    reversed: *reversed,
                    parameters: pointers.as_ptr(),
                };
                // SAFETY: `entry_point` returned the function, which has this type. These are the parameters that the kernel declares, which it
                // copies, and the caller of `launch` promised what the kernel does with them.
                unsafe {
                    std::mem::transmute::<usize, RunKernelFunction>(*function)(&raw const arguments);
                }
            }
            // SAFETY: the caller's addresses are inside of blocks of this machine, or in CPU memory that is held for the copy.
            Self::Copy { from, to, bytes } => unsafe {
                std::ptr::copy(address_to_pointer(*from), address_to_pointer(*to), *bytes);
            },
            // SAFETY: the caller's address is inside of a block of this machine.
            Self::Fill { to, byte, bytes } => unsafe { address_to_pointer(*to).write_bytes(*byte, *bytes) },
            Self::Replay(work) => work.steps.iter().for_each(Self::run),
            Self::NoteAllocated { block, bytes } => GuardedBlock::set_allocated(*block, *bytes),
            Self::NoteFreed(block) => GuardedBlock::set_free(*block),
            // Only a stream runs these steps, in `run_until`; a recording does not.
            Self::Wait(_) | Self::Free(_) => {}
        }
    }
}
