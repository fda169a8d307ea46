//! The workers, and how a region reaches them.
//!
//! A worker watches one slot. It is empty, or offers a region, or says that the worker has taken it. Taking is a
//! compare-exchange, and so is the caller's withdrawing of an offer: a worker that was too slow to come is not waited
//! for, and a withdrawn region is never touched. What a worker has taken, the caller waits out.
#![expect(unsafe_code, reason = "a caller's closure runs on other threads while the caller waits")]

use super::region::{Next, Region};
use std::{
    panic::resume_unwind,
    ptr,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{
            AtomicBool, AtomicPtr,
            Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst},
        },
    },
    thread::{self, Thread},
    time::{Duration, Instant},
};

/// How long a thread looks for work, or for the end of others' work, before it sleeps: longer than the pause between
/// two kernels, shorter than anyone would notice on an idle machine.
const SPIN: Duration = Duration::from_micros(50);

/// Who holds the lock has the workers.
pub(super) static WORKERS: Mutex<Workers> = Mutex::new(Workers { workers: Vec::new(), shares: Vec::new() });

pub(super) struct Workers {
    workers: Vec<Worker>,
    shares: Vec<Next>,
}

struct Worker {
    slot: Arc<Slot>,
    thread: Thread,
}

/// Alone on its cache lines: its worker reads it without pause.
#[repr(align(128))]
struct Slot {
    offer: AtomicPtr<Region<'static>>,
    asleep: AtomicBool,
}

const EMPTY: *mut Region<'static> = ptr::null_mut();
const TAKEN: *mut Region<'static> = ptr::without_provenance_mut(1);

/// Runs all pieces of a region on `threads` threads, or as many as the system gives us, the caller's included.
pub(super) fn run(mut guard: MutexGuard<'_, Workers>, threads: usize, count: usize, job: &(dyn Fn(usize) + Sync)) {
    guard.grow(threads - 1);
    let all = &*guard;
    let workers = &all.workers[..all.workers.len().min(threads - 1)];
    let region = Region::new(job, count, &all.shares[..=workers.len()]);

    let offer = ptr::from_ref(&region).cast::<Region<'static>>().cast_mut();
    for worker in workers {
        worker.slot.offer.store(offer, SeqCst);
        // Either this sees that the worker went to sleep, or the worker, which looks once more after saying so, sees
        // the offer: both are sequentially consistent.
        if worker.slot.asleep.load(SeqCst) {
            worker.thread.unpark();
        }
    }
    // Nothing between the offer and the wait below may unwind; a panic in the job stays in the region.
    region.work(0);
    for worker in workers {
        let withdrawn = worker.slot.offer.compare_exchange(offer, EMPTY, Acquire, Acquire);
        if withdrawn.is_err_and(|now| now == TAKEN) {
            COMPLETION.wait_for(&worker.slot);
        }
    }

    let panic = region.into_panic();
    drop(guard);
    if let Some(payload) = panic {
        resume_unwind(payload);
    }
}

impl Workers {
    fn grow(&mut self, workers: usize) {
        while self.workers.len() < workers {
            let slot = Arc::new(Slot { offer: AtomicPtr::new(EMPTY), asleep: AtomicBool::new(false) });
            let (own, share) = (slot.clone(), self.workers.len() + 1);
            let thread = thread::Builder::new().name(format!("kernels-cpu-{share}"));
            match thread.spawn(move || own.serve(share)) {
                Ok(handle) => self.workers.push(Worker { slot, thread: handle.thread().clone() }),
                // The region is run by those that are there.
                Err(_) => break,
            }
        }
        self.shares.resize_with(self.shares.len().max(self.workers.len() + 1), Next::default);
    }
}

impl Slot {
    fn serve(&self, share: usize) -> ! {
        loop {
            let offer = self.watch();
            if self.offer.compare_exchange(offer, TAKEN, AcqRel, Relaxed).is_ok() {
                // SAFETY: the offer stood when it was taken, so its caller is inside `run`, has not withdrawn, and
                // from now on waits there, with the region and all that it borrows, until the slot is empty. An offer
                // at the same address that replaced the one seen by `watch` is as good as that one.
                unsafe { (*offer).work(share) };
                self.offer.store(EMPTY, SeqCst);
                COMPLETION.notify();
            }
        }
    }

    /// Waits for an offer.
    fn watch(&self) -> *mut Region<'static> {
        loop {
            if let Some(offer) = spin(|| self.offered()) {
                return offer;
            }
            self.asleep.store(true, SeqCst);
            if self.offered().is_none() {
                thread::park();
            }
            // Woken, even if too late: the next region is likely to follow, and is looked out for.
            self.asleep.store(false, Release);
        }
    }

    fn offered(&self) -> Option<*mut Region<'static>> {
        let offer = self.offer.load(SeqCst);
        (offer != EMPTY).then_some(offer)
    }
}

/// Where the caller sleeps until its workers are done. It outlives every region: a worker that says it is done must
/// not touch what the caller may free on hearing so.
struct Completion {
    sleeper: AtomicBool,
    lock: Mutex<()>,
    left: Condvar,
}

static COMPLETION: Completion =
    Completion { sleeper: AtomicBool::new(false), lock: Mutex::new(()), left: Condvar::new() };

impl Completion {
    fn wait_for(&self, slot: &Slot) {
        let done = || (slot.offer.load(SeqCst) == EMPTY).then_some(());
        if spin(done).is_some() {
            return;
        }
        let mut lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.sleeper.store(true, SeqCst);
        while done().is_none() {
            lock = self.left.wait(lock).unwrap_or_else(PoisonError::into_inner);
        }
        self.sleeper.store(false, Relaxed);
    }

    fn notify(&self) {
        if self.sleeper.load(SeqCst) {
            // Under the lock, the sleeper either has not looked at its slot yet or is waiting.
            let _lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
            self.left.notify_one();
        }
    }
}

fn spin<T>(look: impl Fn() -> Option<T>) -> Option<T> {
    const LOOKS: u32 = 16;
    let mut until = None;
    loop {
        for _ in 0..LOOKS {
            if let Some(found) = look() {
                return Some(found);
            }
            std::hint::spin_loop();
        }
        let now = Instant::now();
        if now > *until.get_or_insert(now + SPIN) {
            return None;
        }
    }
}
