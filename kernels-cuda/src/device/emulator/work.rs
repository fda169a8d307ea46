//! Deferred work of the emulator's queues, which runs when the program waits for it.

use std::collections::{HashMap, VecDeque};
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::sync::Arc;
use std::time::Instant;

use super::block::{Block, pointer};
use crate::device::machine::{Address, Function, Grid, Mark, Queue};
use crate::error::CudaError;

#[derive(Default)]
pub(super) struct State {
    /// The deferred work of each queue. The first queue has number 1.
    pub(super) queues: Vec<Pending>,
    pub(super) marks: HashMap<Mark, Spot>,
    pub(super) times: HashMap<Mark, Instant>,
    marked: usize,
    pub(super) recordings: Vec<Arc<Recorded>>,
    /// The recordings in progress, by queue.
    pub(super) recording: HashMap<Queue, Recorded>,
    /// The total size of the allocated blocks in bytes.
    pub(super) reserved: usize,
}

#[derive(Default)]
pub(super) struct Pending {
    done: usize,
    steps: VecDeque<Step>,
}

/// A point in a queue's work, as the number of steps before it.
#[derive(Clone, Copy)]
pub(super) struct Spot {
    queue: Queue,
    steps: usize,
}

/// Recorded steps, and the memory that they allocated and freed: each replay uses the same memory.
#[derive(Default)]
pub(super) struct Recorded {
    steps: Vec<Step>,
    pub(super) taken: Vec<Address>,
    pub(super) held: Vec<Address>,
}

impl Drop for Recorded {
    fn drop(&mut self) {
        self.held.drain(..).for_each(|block| _ = Block::free(block));
    }
}

/// One step of a queue's work.
pub(super) enum Step {
    Launch { function: Function, grid: Grid, parameters: Vec<Vec<MaybeUninit<u128>>>, backwards: bool },
    Copy { from: Address, to: Address, bytes: usize },
    Fill { to: Address, byte: u8, bytes: usize },
    Wait(Spot),
    Replay(Arc<Recorded>),
    Lend { block: Address, bytes: usize },
    TakeBack(Address),
    Free(Address),
}

/// The maximum number of deferred steps of a queue. Beyond it they run at once.
const MOST: usize = 1000;

impl State {
    /// Adds a step to the queue's recording if there is one, and to its deferred work otherwise.
    pub(super) fn work(&mut self, queue: Queue, step: Step) {
        if let Some(work) = self.recording.get_mut(&queue) {
            work.steps.push(step);
            return;
        }
        let pending = &mut self.queues[queue - 1];
        pending.steps.push_back(step);
        if pending.steps.len() > MOST {
            let end = self.end(queue);
            self.reach(end);
        }
    }

    pub(super) fn end(&self, queue: Queue) -> Spot {
        let pending = &self.queues[queue - 1];
        Spot { queue, steps: pending.done + pending.steps.len() }
    }

    pub(super) fn has_reached(&self, spot: Spot) -> bool {
        self.queues[spot.queue - 1].done >= spot.steps
    }

    /// Runs the queue's steps before `spot`.
    pub(super) fn reach(&mut self, spot: Spot) {
        while !self.has_reached(spot) {
            let pending = &mut self.queues[spot.queue - 1];
            let Some(step) = pending.steps.pop_front() else { break };
            pending.done += 1;
            match step {
                Step::Wait(first) => self.reach(first),
                Step::Free(block) => self.reserved -= Block::free(block),
                step => step.run(),
            }
        }
    }

    pub(super) fn mark(&mut self, queue: Queue) -> Mark {
        self.marked += 1;
        self.marks.insert(self.marked, self.end(queue));
        self.marked
    }

    /// Returns an error if one of the queues is being recorded. The driver refuses, too, to order recorded work and other work.
    pub(super) fn check_apart_from_recording(&self, call: &'static str, queues: &[Queue]) -> Result<(), CudaError> {
        if queues.iter().any(|queue| self.recording.contains_key(queue)) {
            return Err(CudaError::Driver { call, said: "it cannot be recorded".to_owned() });
        }
        Ok(())
    }
}

/// The functions of an instance in the shim: one runs the kernel, and one returns the sizes of its parameters.
pub(super) type Run = unsafe extern "C" fn(*const Launched);
pub(super) type Sizes = unsafe extern "C" fn() -> *const usize;

/// The shim's `struct Launched`: the arguments of a launch.
#[repr(C)]
pub(super) struct Launched {
    blocks: *const u32,
    threads: *const u32,
    shared: u32,
    backwards: bool,
    parameters: *const *const c_void,
}

impl Step {
    fn run(&self) {
        match self {
            Self::Launch { function, grid, parameters, backwards } => {
                let places: Vec<*const c_void> = parameters.iter().map(|words| words.as_ptr().cast()).collect();
                let launched = Launched {
                    blocks: grid.blocks.as_ptr(),
                    threads: grid.threads.as_ptr(),
                    shared: grid.shared,
                    backwards: *backwards,
                    parameters: places.as_ptr(),
                };
                // SAFETY: `entry` returned the function, which has this type. These are the parameters that the kernel declares, which it
                // copies, and the caller of `launch` promised what the kernel does with them.
                unsafe {
                    std::mem::transmute::<usize, Run>(*function)(&raw const launched);
                }
            }
            // SAFETY: the caller's addresses are inside of blocks of this machine, or in CPU memory that is held for the copy.
            Self::Copy { from, to, bytes } => unsafe { std::ptr::copy(pointer(*from), pointer(*to), *bytes) },
            // SAFETY: the caller's address is inside of a block of this machine.
            Self::Fill { to, byte, bytes } => unsafe { pointer(*to).write_bytes(*byte, *bytes) },
            Self::Replay(work) => work.steps.iter().for_each(Self::run),
            Self::Lend { block, bytes } => Block::lend(*block, *bytes),
            Self::TakeBack(block) => Block::take_back(*block),
            // Only a queue runs these steps, in `reach`; a recording does not.
            Self::Wait(_) | Self::Free(_) => {}
        }
    }
}
