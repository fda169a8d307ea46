//! The thread pool of this backend.
//!
//! A kernel passes a region of work to [`parallel_for`] or [`parallel_each`]. The region is cut into pieces, which the calling thread and
//! this backend's workers run. The caller returns when all pieces are done. Until then it runs only pieces of its own region, never another
//! caller's job. So a user's job never runs under the guards of a waiting kernel, as it could in a shared work-stealing pool.
//!
//! Only one region uses the workers at a time. A second region, from another thread or from a piece of the running region, runs on its
//! caller's thread alone, at once. So regions never nest across threads, and no deadlock is possible.

mod disjoint_slices;
mod region;
mod workers;

use std::{
    cell::Cell,
    ops::Range,
    sync::{
        TryLockError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread,
};

use dispatch_runtime::{TaskRunner, keys, task_runner};

pub use disjoint_slices::{DisjointLines, DisjointSlices};

/// The most pieces per thread: more than one, so that other threads can help one that the system delays.
const PIECES_PER_THREAD: usize = 4;

/// The length of a piece from which pieces start at multiples of [`PIECE_ALIGNMENT`] elements.
const MIN_ALIGNED_PIECE_LENGTH: usize = 1024;

/// The alignment of long pieces in elements. Pieces of aligned data begin aligned, and no two threads write one cache line.
const PIECE_ALIGNMENT: usize = 64;

/// The number of threads; zero until it is first read or set.
static THREAD_COUNT: AtomicUsize = AtomicUsize::new(0);

/// Returns the number of threads of a region, the caller's included.
///
/// Until [`set_num_threads`] is called, it is the parallelism that the system makes available to this process.
///
/// ```
/// assert!(kernels_cpu::thread_pool::num_threads() >= 1);
/// ```
#[must_use]
#[inline]
pub fn num_threads() -> usize {
    match THREAD_COUNT.load(Relaxed) {
        0 => default_thread_count(),
        threads => threads,
    }
}

#[cold]
fn default_thread_count() -> usize {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    // A number that another thread has set meanwhile takes precedence.
    THREAD_COUNT.compare_exchange(0, threads, Relaxed, Relaxed).map_or_else(|set| set, |_| threads)
}

thread_local! {
    static IN_REGION: Cell<bool> = const { Cell::new(false) };
}

/// Returns the number of threads of a region that starts here: one inside a region.
#[inline]
pub fn region_thread_count() -> usize {
    if IN_REGION.get() { 1 } else { num_threads() }
}

/// Sets the number of threads for later regions, the caller's included; zero counts as one.
///
/// A worker starts when a region first needs it. Unneeded workers sleep.
///
/// ```
/// use kernels_cpu::thread_pool::{num_threads, set_num_threads};
/// set_num_threads(3);
/// assert_eq!(num_threads(), 3);
/// ```
pub fn set_num_threads(threads: usize) {
    THREAD_COUNT.store(threads.max(1), Relaxed);
}

/// Runs `job` on consecutive pieces of `range`, in parallel. Only pieces of at least `grain` elements are worth a thread. A range of at
/// most `grain` elements is one direct call of `job`, at the cost of a comparison.
///
/// If pieces panic, one of the panics resumes in the caller, and pieces that have not begun may be skipped.
///
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
/// let sum = AtomicUsize::new(0);
/// kernels_cpu::thread_pool::parallel_for(0..1000, 100, |piece| {
///     sum.fetch_add(piece.sum(), Relaxed);
/// });
/// assert_eq!(sum.into_inner(), 499_500);
/// ```
#[inline]
pub fn parallel_for(range: Range<usize>, grain: usize, job: impl Fn(Range<usize>) + Sync) {
    let length = range.len();
    if length <= grain || region_thread_count() == 1 {
        if length > 0 {
            job(range);
        }
        return;
    }
    run_pieces(range, grain, &job);
}

#[inline(never)]
fn run_pieces(range: Range<usize>, grain: usize, job: &(dyn Fn(Range<usize>) + Sync)) {
    let length = range.len();
    let threads = num_threads();
    let mut pieces = length.div_ceil(grain.max(1)).min(threads * PIECES_PER_THREAD);
    if pieces > threads {
        // All threads get as many pieces, so that none waits for another one's last piece.
        pieces = pieces.next_multiple_of(threads);
    }
    let mut step = length.div_ceil(pieces);
    if step >= MIN_ALIGNED_PIECE_LENGTH {
        step = step.next_multiple_of(PIECE_ALIGNMENT);
    }
    parallel_each(length.div_ceil(step), |piece| {
        let start = range.start + piece * step;
        job(start..range.end.min(start.saturating_add(step)));
    });
}

/// The tasks of operators over lists are pieces of a region.
struct CpuTasks;

impl TaskRunner for CpuTasks {
    fn run(&self, count: usize, task: &(dyn Fn(usize) + Sync)) {
        parallel_each(count, task);
    }
}

task_runner!(keys::CPU, CpuTasks);

/// Runs `job` once for every number below `count`, in parallel; each call is worth a thread. If calls panic, one of the panics resumes in
/// the caller, and calls that have not begun may be skipped.
///
/// ```
/// use std::sync::Mutex;
/// let seen = Mutex::new(Vec::new());
/// kernels_cpu::thread_pool::parallel_each(3, |index| seen.lock().unwrap().push(index));
/// let mut seen = seen.into_inner().unwrap();
/// seen.sort();
/// assert_eq!(seen, [0, 1, 2]);
/// ```
#[inline]
pub fn parallel_each(count: usize, job: impl Fn(usize) + Sync) {
    if count > 1 && region_thread_count() > 1 {
        run_on_workers(count, &job);
    } else {
        (0..count).for_each(job);
    }
}

#[inline(never)]
fn run_on_workers(count: usize, job: &(dyn Fn(usize) + Sync)) {
    let workers = match workers::WORKERS.try_lock() {
        Ok(workers) => workers,
        Err(TryLockError::Poisoned(workers)) => workers.into_inner(),
        Err(TryLockError::WouldBlock) => return (0..count).for_each(job),
    };
    workers::run_region(workers, num_threads().min(count), count, job);
}

#[cfg(test)]
mod tests;
