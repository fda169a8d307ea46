//! A device that is none: the CPU runs kernels that the system's C++ compiler compiled.
//!
//! It is for tests where there is no GPU. Everything above the machine is the same: operators, launches, parameters, streams. What it cannot
//! show is what depends on many threads at once, and speed.

use std::alloc::{Layout, alloc, alloc_zeroed, dealloc};
use std::ffi::{OsString, c_void};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

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
    queues: AtomicUsize,
    recordings: Mutex<Vec<Recorded>>,
    recording: Mutex<Option<(Queue, Recorded)>>,
    /// Copies to and from the CPU's own memory, which are put off for as long as they may be.
    late: Mutex<Vec<Step>>,
}

/// Work, the memory that it took, and what it gave back: a replay uses it again.
#[derive(Default)]
struct Recorded {
    steps: Vec<Step>,
    taken: Vec<Address>,
    held: Vec<Address>,
}

impl Drop for Recorded {
    fn drop(&mut self) {
        self.held.drain(..).for_each(Block::free);
    }
}

/// One piece of recorded work.
enum Step {
    Launch { function: Function, grid: Grid, parameters: Vec<Vec<u8>> },
    Copy { from: Address, to: Address, bytes: usize },
    Fill { to: Address, byte: u8, bytes: usize },
}

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
        Self {
            properties,
            queues: AtomicUsize::new(1),
            recordings: Mutex::default(),
            recording: Mutex::default(),
            late: Mutex::default(),
        }
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
        Ok(self.queues.fetch_add(1, Ordering::Relaxed))
    }

    fn wait(&self, queue: Queue) -> Result<(), CudaError> {
        self.check_apart_from_recording("wait", &[queue])?;
        self.catch_up();
        Ok(())
    }

    fn order(&self, first: Queue, then: Queue) -> Result<(), CudaError> {
        self.check_apart_from_recording("order", &[first, then])
    }

    fn allocate(&self, bytes: usize, queue: Queue) -> Result<Address, CudaError> {
        let out_of_memory = || CudaError::OutOfMemory { asked: bytes, total: self.properties.memory };
        let block = Block::layout(bytes).and_then(Block::allocate).ok_or_else(out_of_memory)?;
        if let Some((recorded, work)) = &mut *entered(&self.recording)
            && *recorded == queue
        {
            work.taken.push(block);
        }
        Ok(block)
    }

    fn free(&self, address: Address, queue: Queue) {
        self.catch_up();
        match &mut *entered(&self.recording) {
            Some((recorded, work)) if *recorded == queue => {
                assert!(work.taken.contains(&address), "a recording gives back memory that was there before");
                work.held.push(address);
            }
            _ => Block::free(address),
        }
    }

    fn copy_in(&self, from: NonNull<u8>, to: Address, bytes: usize, _: Queue) -> Result<(), CudaError> {
        entered(&self.late).push(Step::Copy { from: address(from), to, bytes });
        Ok(())
    }

    fn copy_out(&self, from: Address, to: NonNull<u8>, bytes: usize, _: Queue) -> Result<(), CudaError> {
        entered(&self.late).push(Step::Copy { from, to: address(to), bytes });
        Ok(())
    }

    fn copy(&self, from: Address, to: Address, bytes: usize, queue: Queue) -> Result<(), CudaError> {
        self.work(queue, Step::Copy { from, to, bytes });
        Ok(())
    }

    fn fill(&self, to: Address, byte: u8, bytes: usize, queue: Queue) -> Result<(), CudaError> {
        self.work(queue, Step::Fill { to, byte, bytes });
        Ok(())
    }

    fn pin(&self, bytes: usize) -> Result<NonNull<u8>, CudaError> {
        let out_of_memory = || CudaError::OutOfMemory { asked: bytes, total: self.properties.memory };
        let block = Layout::from_size_align(bytes, LINE).ok().filter(|layout| layout.size() > 0);
        // SAFETY: the layout has a size.
        block.and_then(|layout| NonNull::new(unsafe { alloc_zeroed(layout) })).ok_or_else(out_of_memory)
    }

    fn mark(&self, _: Queue) -> Result<Mark, CudaError> {
        Ok(0)
    }

    fn has_passed(&self, _: Mark) -> bool {
        entered(&self.late).is_empty()
    }

    fn wait_for(&self, _: Mark) {
        self.catch_up();
    }

    fn unmark(&self, _: Mark) {}

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
        self.work(queue, Step::Launch { function, grid, parameters });
        Ok(())
    }

    fn allow_shared(&self, _: Function, _: u32) -> Result<(), CudaError> {
        Ok(())
    }

    fn begin_recording(&self, queue: Queue) -> Result<(), CudaError> {
        *entered(&self.recording) = Some((queue, Recorded::default()));
        Ok(())
    }

    fn end_recording(&self, _: Queue) -> Result<Recording, CudaError> {
        let (_, work) = entered(&self.recording).take().unwrap_or_default();
        let mut recordings = entered(&self.recordings);
        recordings.push(work);
        Ok(recordings.len() - 1)
    }

    fn replay(&self, recording: Recording, _: Queue) -> Result<(), CudaError> {
        self.catch_up();
        if let Some(work) = entered(&self.recordings).get(recording) {
            work.steps.iter().for_each(Step::run);
        }
        Ok(())
    }

    fn forget(&self, recording: Recording) {
        if let Some(work) = entered(&self.recordings).get_mut(recording) {
            *work = Recorded::default();
        }
    }
}

impl Emulator {
    /// Does it, or notes it where its queue is being recorded.
    fn work(&self, queue: Queue, step: Step) {
        if let Some((recorded, work)) = &mut *entered(&self.recording)
            && *recorded == queue
        {
            work.steps.push(step);
        } else {
            self.catch_up();
            step.run();
        }
    }

    /// A driver refuses to let what is being recorded wait for anything, or the other way round.
    fn check_apart_from_recording(&self, call: &'static str, queues: &[Queue]) -> Result<(), CudaError> {
        match &*entered(&self.recording) {
            Some((recorded, _)) if queues.contains(recorded) => {
                Err(CudaError::Driver { call, said: "it cannot be recorded".to_owned() })
            }
            _ => Ok(()),
        }
    }

    /// Does what was put off.
    fn catch_up(&self) {
        entered(&self.late).drain(..).for_each(|step| step.run());
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

/// A block of memory between two lines that no kernel may touch. The first says how large it is.
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
        // SAFETY: the block has that many bytes, and is aligned for a number.
        unsafe {
            // What fresh memory holds is nobody's.
            start.write_bytes(UNTOUCHED, bytes + 2 * LINE);
            start.cast::<[u8; 8]>().write(bytes.to_ne_bytes());
            Some(address(NonNull::new(start.add(LINE))?))
        }
    }

    fn free(address: Address) {
        // SAFETY: `allocate` gave the address, and a size in the line before; nobody uses the block any more.
        unsafe {
            let start = pointer(address).sub(LINE);
            let bytes = usize::from_ne_bytes(start.cast::<[u8; 8]>().read());
            let behind = std::slice::from_raw_parts(start.add(LINE + bytes), LINE);
            assert!(behind.iter().all(|byte| *byte == UNTOUCHED), "a kernel wrote behind a block of {bytes} bytes");
            if let Some((layout, _)) = Self::layout(bytes) {
                dealloc(start, layout);
            }
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
