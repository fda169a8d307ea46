//! Work that is put off until somebody waits for it.

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
    /// What each queue was asked for and has not done; the first queue is number one.
    pub(super) queues: Vec<Pending>,
    pub(super) marks: HashMap<Mark, Spot>,
    pub(super) times: HashMap<Mark, Instant>,
    marked: usize,
    pub(super) recordings: Vec<Arc<Recorded>>,
    /// The recordings in progress, by queue.
    pub(super) recording: HashMap<Queue, Recorded>,
    /// Bytes of blocks.
    pub(super) reserved: usize,
}

#[derive(Default)]
pub(super) struct Pending {
    done: usize,
    steps: VecDeque<Step>,
}

/// The end of a queue's work as it was once.
#[derive(Clone, Copy)]
pub(super) struct Spot {
    queue: Queue,
    steps: usize,
}

/// Work, and the memory that it took and gave back: a replay uses it again.
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

/// One piece of work.
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

/// What a queue puts off at most.
const MOST: usize = 1000;

impl State {
    /// Records it, or puts it off.
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

    /// Does what comes before.
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

    /// A driver refuses to let what is being recorded wait for anything, or the other way round.
    pub(super) fn check_apart_from_recording(&self, call: &'static str, queues: &[Queue]) -> Result<(), CudaError> {
        if queues.iter().any(|queue| self.recording.contains_key(queue)) {
            return Err(CudaError::Driver { call, said: "it cannot be recorded".to_owned() });
        }
        Ok(())
    }
}

/// A kernel's own functions, as the shim has them: one that runs it, and one that gives the sizes of its parameters.
pub(super) type Run = unsafe extern "C" fn(*const Launched);
pub(super) type Sizes = unsafe extern "C" fn() -> *const usize;

/// `struct Launched` of the shim.
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
                // SAFETY: `entry` gave the function, which has this type. These are the parameters that the kernel declares, which it
                // copies, and the caller of `launch` promised what it does with them.
                unsafe {
                    std::mem::transmute::<usize, Run>(*function)(&raw const launched);
                }
            }
            // SAFETY: the caller's places are inside of blocks of this machine's, or in memory of the CPU's that is held for the copy.
            Self::Copy { from, to, bytes } => unsafe { std::ptr::copy(pointer(*from), pointer(*to), *bytes) },
            // SAFETY: as above.
            Self::Fill { to, byte, bytes } => unsafe { pointer(*to).write_bytes(*byte, *bytes) },
            Self::Replay(work) => work.steps.iter().for_each(Self::run),
            Self::Lend { block, bytes } => Block::lend(*block, *bytes),
            Self::TakeBack(block) => Block::take_back(*block),
            // What they do is the queues', and none of a recording.
            Self::Wait(_) | Self::Free(_) => {}
        }
    }
}
