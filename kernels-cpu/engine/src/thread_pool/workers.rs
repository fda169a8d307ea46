//! The worker threads, and the handover of a region to them.
//!
//! A worker watches one slot, which is empty, offers a region, or marks an offer as taken. The worker takes an offer by compare-exchange,
//! and the caller withdraws an offer in the same way. So the caller does not wait for a worker that did not take its offer, and no worker
//! uses a withdrawn region. The caller waits for the workers that have taken an offer.
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

/// The time that a thread spins for work, or for the end of other threads' work, before it sleeps. It is longer than the pause between two
/// kernels, and too short to matter on an idle machine.
const SPIN: Duration = Duration::from_micros(50);

/// The workers. The holder of the lock may offer them a region.
pub(super) static WORKERS: Mutex<Workers> = Mutex::new(Workers { workers: Vec::new(), shares: Vec::new() });

pub(super) struct Workers {
    workers: Vec<Worker>,
    shares: Vec<Next>,
}

struct Worker {
    slot: Arc<Slot>,
    thread: Thread,
}

/// The mailbox of a worker. It has its own cache lines, as its worker reads it continuously.
#[repr(align(128))]
struct Slot {
    offer: AtomicPtr<Region<'static>>,
    asleep: AtomicBool,
}

const EMPTY: *mut Region<'static> = ptr::null_mut();
const TAKEN: *mut Region<'static> = ptr::without_provenance_mut(1);

/// Runs all pieces of a region on `threads` threads, the caller's included, or on fewer if the system cannot start as many.
pub(super) fn run(mut guard: MutexGuard<'_, Workers>, threads: usize, count: usize, job: &(dyn Fn(usize) + Sync)) {
    guard.grow(threads - 1);
    let all = &*guard;
    let workers = &all.workers[..all.workers.len().min(threads - 1)];
    let region = Region::new(job, count, &all.shares[..=workers.len()]);

    let offer = ptr::from_ref(&region).cast::<Region<'static>>().cast_mut();
    for worker in workers {
        worker.slot.offer.store(offer, SeqCst);
        // Either this load sees that the worker went to sleep, or the worker, which checks again after setting `asleep`, sees the offer:
        // both are sequentially consistent.
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
                // The region runs on the workers that exist.
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
                // SAFETY: the offer was valid when it was taken, so its caller is inside `run` and has not withdrawn it. From now on the
                // caller waits there until the slot is empty, with the region and all that it borrows. If a later offer at the same address
                // has replaced the one that `watch` saw, it is just as valid.
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
            // After waking, even if too late for an offer, the worker spins: the next region is likely to follow.
            self.asleep.store(false, Release);
        }
    }

    fn offered(&self) -> Option<*mut Region<'static>> {
        let offer = self.offer.load(SeqCst);
        (offer != EMPTY).then_some(offer)
    }
}

/// The place where the caller sleeps until its workers are done. It is static, as a worker that reports completion must not access memory
/// that the caller may free at once.
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
            // Under the lock, the sleeper either has not checked its slot yet or is waiting.
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
