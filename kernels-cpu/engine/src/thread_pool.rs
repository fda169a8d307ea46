//! The threads of this backend.
//!
//! A kernel hands a region of work to [`parallel_for`] or [`parallel_each`]; it is cut into pieces, and the calling thread and this
//! backend's own workers run them. The caller leaves when all is done, and until then it runs pieces of its own region
//! and nothing else: it never picks up another's job while it waits. A user's job therefore never runs under the
//! guards of a kernel that happens to wait, which is what a shared work-stealing pool would do.
//!
//! One region has the workers at a time. Whoever asks meanwhile, be it another user thread or a piece of the running
//! region, runs its own region alone, at once: that one rule is why nothing nests and nothing can deadlock.

mod disjoint;
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

pub use disjoint::{DisjointSlices, Lines};

/// How many pieces each thread gets at most: more than one, so that a thread that the system holds up can be helped.
const PIECES: usize = 4;

/// From this length on, pieces start at multiples of [`ALIGNED`] elements.
const LONG: usize = 1024;

/// Elements. Pieces of aligned data begin aligned, and no two threads write one cache line.
const ALIGNED: usize = 64;

/// Zero until someone asks or sets.
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// How many threads a region is spread over, the caller's included.
///
/// Until [`set_num_threads`] says otherwise it is what the system lets this process run at once.
///
/// ```
/// assert!(kernels_cpu::thread_pool::num_threads() >= 1);
/// ```
#[must_use]
#[inline]
pub fn num_threads() -> usize {
    match THREADS.load(Relaxed) {
        0 => available(),
        threads => threads,
    }
}

#[cold]
fn available() -> usize {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    // Whoever has set a number meanwhile is right.
    THREADS.compare_exchange(0, threads, Relaxed, Relaxed).map_or_else(|set| set, |_| threads)
}

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// How many threads a region that starts here is spread over: inside of a region it is one.
#[inline]
pub fn threads_here() -> usize {
    if INSIDE.get() { 1 } else { num_threads() }
}

/// Spreads the regions that start from now on over `threads` threads, the caller's included; zero counts as one.
///
/// Threads are started when a region first needs them. Those that are no longer wanted sleep.
///
/// ```
/// use kernels_cpu::thread_pool::{num_threads, set_num_threads};
/// set_num_threads(3);
/// assert_eq!(num_threads(), 3);
/// ```
pub fn set_num_threads(threads: usize) {
    THREADS.store(threads.max(1), Relaxed);
}

/// Runs `job` on pieces of `range` that together are the range. Only pieces of `grain` elements or more are worth a
/// thread: up to that length it is one call of `job`, and the cost is a compare.
///
/// Where pieces panic, one of the panics is carried to the caller and pieces that had not begun may be left out.
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
    if length <= grain || threads_here() == 1 {
        if length > 0 {
            job(range);
        }
        return;
    }
    pieces(range, grain, &job);
}

#[inline(never)]
fn pieces(range: Range<usize>, grain: usize, job: &(dyn Fn(Range<usize>) + Sync)) {
    let length = range.len();
    let mut step = length.div_ceil(length.div_ceil(grain.max(1)).min(num_threads() * PIECES));
    if step >= LONG {
        step = step.next_multiple_of(ALIGNED);
    }
    parallel_each(length.div_ceil(step), |piece| {
        let start = range.start + piece * step;
        job(start..range.end.min(start.saturating_add(step)));
    });
}

/// Runs `job` once for every number below `count`, each worth a thread. What [`parallel_for`] says of panics holds here.
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
    if count > 1 && threads_here() > 1 {
        spread(count, &job);
    } else {
        (0..count).for_each(job);
    }
}

#[inline(never)]
fn spread(count: usize, job: &(dyn Fn(usize) + Sync)) {
    let workers = match workers::WORKERS.try_lock() {
        Ok(workers) => workers,
        Err(TryLockError::Poisoned(workers)) => workers.into_inner(),
        Err(TryLockError::WouldBlock) => return (0..count).for_each(job),
    };
    workers::run(workers, num_threads().min(count), count, job);
}

#[cfg(test)]
mod tests;
