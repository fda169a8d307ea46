//! The worker threads, and the handover of a region to them.
//!
//! A worker watches one slot, which is empty, offers a region, or marks an offer as taken. The worker takes an offer by compare-exchange,
//! and the caller withdraws an offer in the same way. So the caller does not wait for a worker that did not take its offer, and no worker
//! uses a withdrawn region. The caller waits for the workers that have taken an offer.
#![expect(unsafe_code, reason = "a caller's closure runs on other threads while the caller waits")]

use super::region::{NextPiece, ParallelRegion};
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
const SPIN_TIME: Duration = Duration::from_micros(50);

/// The worker threads. The holder of the lock may offer them a region.
pub(super) static WORKERS: Mutex<Workers> = Mutex::new(Workers { workers: Vec::new(), shares: Vec::new() });

pub(super) struct Workers {
    workers: Vec<Worker>,
    shares: Vec<NextPiece>,
}

struct Worker {
    slot: Arc<OfferSlot>,
    thread: Thread,
}

/// The mailbox of a worker. It has its own cache lines, as its worker reads it continuously.
#[repr(align(128))]
struct OfferSlot {
    offer: AtomicPtr<ParallelRegion<'static>>,
    asleep: AtomicBool,
}

const NO_OFFER: *mut ParallelRegion<'static> = ptr::null_mut();
const TAKEN_OFFER: *mut ParallelRegion<'static> = ptr::without_provenance_mut(1);

/// Runs all pieces of a region on `threads` threads, the caller's included, or on fewer if the system cannot start as many.
pub(super) fn run_region(
    mut guard: MutexGuard<'_, Workers>,
    threads: usize,
    count: usize,
    job: &(dyn Fn(usize) + Sync),
) {
    guard.start_missing_workers(threads - 1);
    let all = &*guard;
    let workers = &all.workers[..all.workers.len().min(threads - 1)];
    let region = ParallelRegion::new(job, count, &all.shares[..=workers.len()]);

    let offer = ptr::from_ref(&region).cast::<ParallelRegion<'static>>().cast_mut();
    for worker in workers {
        worker.slot.offer.store(offer, SeqCst);
        // Either this load sees that the worker went to sleep, or the worker, which checks again after setting `asleep`, sees the offer:
        // both are sequentially consistent.
        if worker.slot.asleep.load(SeqCst) {
            worker.thread.unpark();
        }
    }
    // Nothing between the offer and the wait below may unwind; a panic in the job stays in the region.
    region.run_share(0);
    for worker in workers {
        let withdrawn = worker.slot.offer.compare_exchange(offer, NO_OFFER, Acquire, Acquire);
        if withdrawn.is_err_and(|now| now == TAKEN_OFFER) {
            COMPLETION.wait_for_worker(&worker.slot);
        }
    }

    let panic = region.into_panic_payload();
    drop(guard);
    if let Some(payload) = panic {
        resume_unwind(payload);
    }
}

impl Workers {
    fn start_missing_workers(&mut self, workers: usize) {
        while self.workers.len() < workers {
            let slot = Arc::new(OfferSlot { offer: AtomicPtr::new(NO_OFFER), asleep: AtomicBool::new(false) });
            let (own, share) = (slot.clone(), self.workers.len() + 1);
            let thread = thread::Builder::new().name(format!("kernels-cpu-{share}"));
            match thread.spawn(move || own.run_offers(share)) {
                Ok(handle) => self.workers.push(Worker { slot, thread: handle.thread().clone() }),
                // If the system cannot start a thread, the region runs on the workers that exist.
                Err(_) => break,
            }
        }
        self.shares.resize_with(self.shares.len().max(self.workers.len() + 1), NextPiece::default);
    }
}

impl OfferSlot {
    fn run_offers(&self, share: usize) -> ! {
        loop {
            let offer = self.wait_for_offer();
            if self.offer.compare_exchange(offer, TAKEN_OFFER, AcqRel, Relaxed).is_ok() {
                // SAFETY: the offer was valid when it was taken, so its caller is inside `run_region` and has not withdrawn it. From now on
                // the caller waits there until the slot is empty, with the region and all that it borrows. If a later offer at the same
                // address has replaced the one that `wait_for_offer` saw, it is just as valid.
                unsafe { (*offer).run_share(share) };
                self.offer.store(NO_OFFER, SeqCst);
                COMPLETION.notify_caller();
            }
        }
    }

    /// Waits until the slot offers a region.
    fn wait_for_offer(&self) -> *mut ParallelRegion<'static> {
        loop {
            if let Some(offer) = spin_until(|| self.current_offer()) {
                return offer;
            }
            self.asleep.store(true, SeqCst);
            if self.current_offer().is_none() {
                thread::park();
            }
            // After waking, even if too late for an offer, the worker spins: the next region is likely to follow.
            self.asleep.store(false, Release);
        }
    }

    fn current_offer(&self) -> Option<*mut ParallelRegion<'static>> {
        let offer = self.offer.load(SeqCst);
        (offer != NO_OFFER).then_some(offer)
    }
}

/// The lock and condition variable with which the caller sleeps until its workers are done. It is static, as a worker that reports
/// completion must not access memory that the caller may free at once.
struct Completion {
    is_waiting: AtomicBool,
    lock: Mutex<()>,
    condvar: Condvar,
}

static COMPLETION: Completion =
    Completion { is_waiting: AtomicBool::new(false), lock: Mutex::new(()), condvar: Condvar::new() };

impl Completion {
    fn wait_for_worker(&self, slot: &OfferSlot) {
        let done = || (slot.offer.load(SeqCst) == NO_OFFER).then_some(());
        if spin_until(done).is_some() {
            return;
        }
        let mut lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.is_waiting.store(true, SeqCst);
        while done().is_none() {
            lock = self.condvar.wait(lock).unwrap_or_else(PoisonError::into_inner);
        }
        self.is_waiting.store(false, Relaxed);
    }

    fn notify_caller(&self) {
        if self.is_waiting.load(SeqCst) {
            // Under the lock, the sleeper either has not checked its slot yet or is waiting.
            let _lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
            self.condvar.notify_one();
        }
    }
}

fn spin_until<T>(check: impl Fn() -> Option<T>) -> Option<T> {
    const CHECKS_PER_CLOCK_READ: u32 = 16;
    let mut deadline = None;
    loop {
        for _ in 0..CHECKS_PER_CLOCK_READ {
            if let Some(result) = check() {
                return Some(result);
            }
            std::hint::spin_loop();
        }
        let now = Instant::now();
        if now > *deadline.get_or_insert(now + SPIN_TIME) {
            return None;
        }
    }
}
