//! A device that is none: the CPU runs kernels that the system's C++ compiler compiled.
//!
//! It is for tests where there is no GPU. Everything above the machine is the same: operators, launches, parameters, streams. Work is put
//! off until somebody waits for its queue, and then nothing else is done but what comes before it: where a queue should have waited for
//! another one, or memory was lent again too early, results are wrong. What it cannot show is what depends on many threads at once, and
//! speed.

use std::alloc::{Layout, alloc, alloc_zeroed, dealloc};
use std::collections::{HashMap, VecDeque};
use std::ffi::{OsString, c_void};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use libloading::Library;

use crate::cache::cache_folder;
use crate::compiler::counted;
use crate::error::CudaError;
use crate::machine::{Address, Function, Grid, Machine, Mark, Module, Properties, Queue, Recording};
use crate::source::{HEADERS, Unit, fingerprint};

/// How many devices it has: enough to be on the wrong one.
pub(crate) const DEVICES: usize = 2;

static ON: AtomicBool = AtomicBool::new(false);
static BACKWARDS: AtomicBool = AtomicBool::new(false);

/// Puts the emulator in the place of NVIDIA's driver, for this process, and says whether it can compile: where there is no C++ compiler
/// (`c++`, or the one that `CXX` names), nothing changes. It must come before anything else is asked of a device.
///
/// ```
/// assert_eq!(kernels_cuda::emulate(), kernels_cuda::is_available());
/// ```
#[must_use = "there may be no compiler"]
pub fn emulate() -> bool {
    let there_is_one = Command::new(cpp()).arg("--version").output().is_ok_and(|output| output.status.success());
    if there_is_one {
        ON.store(true, Ordering::Release);
    }
    there_is_one
}

fn cpp() -> OsString {
    std::env::var_os("CXX").unwrap_or_else(|| "c++".into())
}

/// Runs blocks and threads in the opposite order from now on. Where that changes a result, a barrier is missing.
pub fn emulate_backwards(backwards: bool) {
    BACKWARDS.store(backwards, Ordering::Release);
}

static MEMORY: AtomicUsize = AtomicUsize::new(usize::MAX);

/// Lets an emulated device have so many bytes of memory from now on.
pub fn emulate_memory(bytes: usize) {
    MEMORY.store(bytes, Ordering::Release);
}

pub(crate) fn is_on() -> bool {
    ON.load(Ordering::Acquire)
}

type Entry = unsafe extern "C" fn(*const Launched);

/// `struct Launched` of the shim.
#[repr(C)]
struct Launched {
    blocks: *const u32,
    threads: *const u32,
    shared: u32,
    backwards: bool,
    parameters: *mut *mut c_void,
    sizes: *const usize,
    count: usize,
}

pub(crate) struct Emulator {
    properties: Properties,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// What each queue was asked for and has not done; the first queue is number one.
    queues: Vec<Pending>,
    marks: HashMap<Mark, Spot>,
    marked: usize,
    recordings: Vec<Arc<Recorded>>,
    recording: Option<(Queue, Recorded)>,
    /// Bytes of blocks.
    reserved: usize,
}

#[derive(Default)]
struct Pending {
    done: usize,
    steps: VecDeque<Step>,
}

/// The end of a queue's work as it was once.
#[derive(Clone, Copy)]
struct Spot {
    queue: Queue,
    steps: usize,
}

/// Work, and the memory that it took and gave back: a replay uses it again.
#[derive(Default)]
struct Recorded {
    steps: Vec<Step>,
    taken: Vec<Address>,
    held: Vec<Address>,
}

impl Drop for Recorded {
    fn drop(&mut self) {
        self.held.drain(..).for_each(|block| _ = Block::free(block));
    }
}

/// One piece of work.
enum Step {
    Launch { function: Function, grid: Grid, parameters: Vec<Vec<u8>> },
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

/// One kernel at a time: their shared memory is static.
static RUNNING: Mutex<()> = Mutex::new(());

fn entered<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Emulator {
    pub(crate) fn open() -> Self {
        let properties = Properties {
            name: "the CPU, emulating".to_owned(),
            architecture: 0,
            multiprocessors: 4,
            memory: usize::MAX,
            // What sm_80 has, the least of those that kernels are compiled for.
            shared: 163 << 10,
        };
        Self { properties, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        entered(&self.state)
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
        // Nothing runs in what is being recorded.
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
        if let Some((recorded, work)) = &mut state.recording
            && *recorded == queue
        {
            work.taken.push(block);
        }
        Ok(block)
    }

    fn free(&self, address: Address, queue: Queue) {
        let mut state = self.state();
        match &mut state.recording {
            Some((recorded, work)) if *recorded == queue => {
                assert!(work.taken.contains(&address), "a recording gives back memory that was there before");
                work.held.push(address);
                state.reserved -= Block::bytes(address);
            }
            _ => state.work(queue, Step::Free(address)),
        }
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
        // SAFETY: the layout has a size.
        block.and_then(|layout| NonNull::new(unsafe { alloc_zeroed(layout) })).ok_or_else(out_of_memory)
    }

    fn mark(&self, queue: Queue) -> Result<Mark, CudaError> {
        let mut state = self.state();
        state.check_apart_from_recording("mark", &[queue])?;
        Ok(state.mark(queue))
    }

    fn mark_all(&self, queues: &[Queue]) -> Result<Vec<Mark>, CudaError> {
        let mut state = self.state();
        let recorded = state.recording.as_ref().map(|(queue, _)| *queue);
        Ok(queues.iter().filter(|queue| Some(**queue) != recorded).map(|queue| state.mark(*queue)).collect())
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
        self.state().marks.remove(&mark);
    }

    fn load(&self, unit: &Unit, expressions: &[String]) -> Result<Vec<Module>, CudaError> {
        let library = compiled(unit, expressions)?;
        // SAFETY: the library was just compiled from kernels, and has no initialisers.
        let library = unsafe { Library::new(library) }.map_err(|error| refused(unit, error.to_string()))?;
        // Functions are never taken back, so the library stays.
        let code = std::ptr::from_ref(Box::leak(Box::new(library))).expose_provenance();
        let names = expressions.iter().enumerate().map(|(at, expression)| (expression.clone(), format!("entry_{at}")));
        Ok(vec![Module { code, names: names.collect() }])
    }

    fn compiles_together(&self) -> bool {
        true
    }

    fn function(&self, code: usize, name: &str) -> Result<Function, CudaError> {
        // SAFETY: `load` gave the library, which is never unloaded.
        let library = unsafe { &*std::ptr::with_exposed_provenance::<Library>(code) };
        // SAFETY: `program` gave the entry this type.
        match unsafe { library.get::<Entry>(name.as_bytes()) } {
            Ok(entry) => Ok(*entry as usize),
            Err(error) => Err(CudaError::Driver { call: "dlsym", said: error.to_string() }),
        }
    }

    fn launch(
        &self,
        function: Function,
        grid: Grid,
        parameters: &mut [*mut c_void],
        sizes: &[usize],
        queue: Queue,
    ) -> Result<(), CudaError> {
        let bytes = |(place, size): (&*mut c_void, &usize)| {
            // SAFETY: `Arguments` gave the place of a value of this size.
            unsafe { std::slice::from_raw_parts(place.cast::<u8>().cast_const(), *size) }.to_vec()
        };
        let parameters = parameters.iter().zip(sizes).map(bytes).collect();
        self.state().work(queue, Step::Launch { function, grid, parameters });
        Ok(())
    }

    fn allow_shared(&self, _: Function, _: u32) -> Result<(), CudaError> {
        Ok(())
    }

    fn begin_recording(&self, queue: Queue) -> Result<(), CudaError> {
        self.state().recording = Some((queue, Recorded::default()));
        Ok(())
    }

    fn end_recording(&self, _: Queue) -> Result<Recording, CudaError> {
        let mut state = self.state();
        let (_, work) = state.recording.take().unwrap_or_default();
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

impl State {
    /// Records it, or puts it off.
    fn work(&mut self, queue: Queue, step: Step) {
        if let Some((recorded, work)) = &mut self.recording
            && *recorded == queue
        {
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

    fn end(&self, queue: Queue) -> Spot {
        let pending = &self.queues[queue - 1];
        Spot { queue, steps: pending.done + pending.steps.len() }
    }

    fn has_reached(&self, spot: Spot) -> bool {
        self.queues[spot.queue - 1].done >= spot.steps
    }

    /// Does what comes before.
    fn reach(&mut self, spot: Spot) {
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

    fn mark(&mut self, queue: Queue) -> Mark {
        self.marked += 1;
        self.marks.insert(self.marked, self.end(queue));
        self.marked
    }

    /// A driver refuses to let what is being recorded wait for anything, or the other way round.
    fn check_apart_from_recording(&self, call: &'static str, queues: &[Queue]) -> Result<(), CudaError> {
        match &self.recording {
            Some((recorded, _)) if queues.contains(recorded) => {
                Err(CudaError::Driver { call, said: "it cannot be recorded".to_owned() })
            }
            _ => Ok(()),
        }
    }
}

impl Step {
    fn run(&self) {
        match self {
            Self::Launch { function, grid, parameters } => {
                // Each at an address that any of its types can have.
                let mut aligned: Vec<Vec<u128>> = parameters.iter().map(|bytes| words(bytes)).collect();
                let mut places: Vec<*mut c_void> = aligned.iter_mut().map(|words| words.as_mut_ptr().cast()).collect();
                let sizes: Vec<usize> = parameters.iter().map(Vec::len).collect();
                let launched = Launched {
                    blocks: grid.blocks.as_ptr(),
                    threads: grid.threads.as_ptr(),
                    shared: grid.shared,
                    backwards: BACKWARDS.load(Ordering::Acquire),
                    parameters: places.as_mut_ptr(),
                    sizes: sizes.as_ptr(),
                    count: sizes.len(),
                };
                let _running = entered(&RUNNING);
                // SAFETY: `build` gave the function, which has this type, and looks whether these are the parameters that the kernel
                // declares. What it does to memory is for those who write kernels.
                unsafe {
                    std::mem::transmute::<usize, Entry>(*function)(&raw const launched);
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

fn words(bytes: &[u8]) -> Vec<u128> {
    let word = |chunk: &[u8]| {
        let mut word = [0; 16];
        word[..chunk.len()].copy_from_slice(chunk);
        u128::from_ne_bytes(word)
    };
    bytes.chunks(16).map(word).collect()
}

#[expect(clippy::cast_possible_truncation, reason = "an address of this process")]
fn pointer(address: Address) -> *mut u8 {
    std::ptr::with_exposed_provenance_mut(address as usize)
}

fn address(place: NonNull<u8>) -> Address {
    place.expose_provenance().get() as Address
}

/// A block of memory between two lines that no kernel may touch. The first says how large it is, and how much of it is lent.
struct Block;

const LINE: usize = 256;
const UNTOUCHED: u8 = 0xa5;

impl Block {
    fn layout(bytes: usize) -> Option<(Layout, usize)> {
        Some((Layout::from_size_align(bytes.checked_add(2 * LINE)?, LINE).ok()?, bytes))
    }

    fn allocate((layout, bytes): (Layout, usize)) -> Option<Address> {
        // SAFETY: the layout has more than two lines.
        let start = unsafe { alloc(layout) };
        if start.is_null() {
            return None;
        }
        // SAFETY: the block has that many bytes, and is aligned for numbers.
        unsafe {
            // What fresh memory holds is nobody's.
            start.write_bytes(UNTOUCHED, bytes + 2 * LINE);
            let block = address(NonNull::new(start.add(LINE))?);
            Self::sizes(block).write([bytes, bytes]);
            Some(block)
        }
    }

    /// Its first line's numbers.
    fn sizes(block: Address) -> *mut [usize; 2] {
        pointer(block).wrapping_sub(LINE).cast()
    }

    fn bytes(block: Address) -> usize {
        // SAFETY: `allocate` gave the address, behind a line with the numbers.
        unsafe { (*Self::sizes(block))[0] }
    }

    fn lend(block: Address, bytes: usize) {
        // SAFETY: as above.
        unsafe { (*Self::sizes(block))[1] = bytes }
    }

    /// Nothing is left of what it held.
    fn take_back(block: Address) {
        Self::check(block);
        // SAFETY: `allocate` gave the address, of a block with so many bytes, which nobody uses any more.
        unsafe {
            let [bytes, _] = *Self::sizes(block);
            pointer(block).write_bytes(UNTOUCHED, bytes);
            *Self::sizes(block) = [bytes, bytes];
        }
    }

    fn check(block: Address) {
        // SAFETY: as above; a line is behind the block.
        let (behind, lent) = unsafe {
            let [bytes, lent] = *Self::sizes(block);
            (std::slice::from_raw_parts(pointer(block).add(lent), bytes - lent + LINE), lent)
        };
        assert!(behind.iter().all(|byte| *byte == UNTOUCHED), "a kernel wrote behind a block of {lent} bytes");
    }

    /// Says how many bytes it had.
    fn free(block: Address) -> usize {
        Self::check(block);
        // SAFETY: `allocate` gave the address, with this layout; nobody uses the block any more.
        unsafe {
            let [bytes, _] = *Self::sizes(block);
            if let Some((layout, _)) = Self::layout(bytes) {
                dealloc(pointer(block).sub(LINE), layout);
            }
            bytes
        }
    }
}

fn refused(unit: &Unit, log: String) -> CudaError {
    CudaError::Compile { kernel: unit.name, target: "the emulator".to_owned(), log }
}

/// The library of a program, from the disk if it was compiled before.
fn compiled(unit: &Unit, expressions: &[String]) -> Result<PathBuf, CudaError> {
    const SHIM: &str = include_str!("../host/emulator.h");
    let key = format!("{}-{}", unit.key(&format!("{OPTIONS:?} {SHIM}")), fingerprint(&expressions));
    let folder = cache_folder().ok_or_else(|| refused(unit, "there is no folder for what is compiled".to_owned()))?;
    let library = folder.join(format!("{key}.so"));
    if library.exists() {
        return Ok(library);
    }
    let failed = |error: std::io::Error| refused(unit, error.to_string());
    let work = folder.join(format!("{key}.{}", std::process::id()));
    std::fs::create_dir_all(&work).map_err(failed)?;
    let made = counted(expressions.len(), || make(unit, expressions, &work, SHIM));
    if let Ok(made) = &made {
        std::fs::rename(made, &library).map_err(failed)?;
    }
    std::fs::remove_dir_all(&work).map_err(failed)?;
    made.map(|_| library)
}

/// How emulated kernels are compiled. What a template's blocks share is a library's own: another one's of the same name may be larger. The
/// checks are for what a device does not survive, or does otherwise than the CPU; what they call is in the shim.
const OPTIONS: [&str; 11] = [
    "-std=c++17",
    "-O1",
    "-w",
    "-fwrapv",
    "-fno-strict-aliasing",
    "-fno-gnu-unique",
    "-ffp-contract=off",
    "-fPIC",
    "-fsanitize=alignment,bounds,shift-exponent",
    "-fno-sanitize-recover=all",
    "-c",
];

fn make(unit: &Unit, expressions: &[String], work: &Path, shim: &str) -> Result<PathBuf, CudaError> {
    let failed = |error: std::io::Error| refused(unit, error.to_string());
    for (name, content) in HEADERS.iter().chain([&("emulator.h", shim)]) {
        std::fs::write(work.join(name), content).map_err(failed)?;
    }
    let [source, object, library] = ["program.cpp", "program.o", "program.so"].map(|name| work.join(name));
    std::fs::write(&source, program(unit, expressions)).map_err(failed)?;
    let run = |options: &[&str], from: &Path, to: &Path| {
        let output = Command::new(cpp()).args(options).arg(from).arg("-o").arg(to).output().map_err(failed)?;
        let log = || String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() { Ok(()) } else { Err(refused(unit, log())) }
    };
    run(&OPTIONS, &source, &object)?;
    // By itself, so that the compiler's own library for its checks is not asked for.
    run(&["-shared"], &object, &library)?;
    Ok(library)
}

fn program(unit: &Unit, expressions: &[String]) -> String {
    let mut text = format!("#include \"emulator.h\"\n#line 1 \"{}\"\n{}\n", unit.name, unit.text);
    for (at, expression) in expressions.iter().enumerate() {
        _ = writeln!(
            text,
            "extern \"C\" void entry_{at}(const emulator::Launched *launched) {{ \
             emulator::launch<emulator::Entry<&{expression}>>(\"{}: {expression}\", *launched); }}",
            unit.name
        );
    }
    text
}
