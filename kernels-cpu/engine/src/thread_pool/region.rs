//! A region of parallel work: one job, and the progress of each thread in its share of the pieces.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

/// The index of the next piece of a share to run. It has its own cache lines, as it is written once per piece.
#[derive(Default)]
#[repr(align(128))]
pub(super) struct NextPiece(AtomicUsize);

pub(super) struct ParallelRegion<'a> {
    job: &'a (dyn Fn(usize) + Sync),
    count: usize,
    shares: &'a [NextPiece],
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

impl<'a> ParallelRegion<'a> {
    /// Divides `count` pieces into shares of consecutive pieces. A thread that gets the same share of the next region finds its data in its
    /// cache.
    pub(super) fn new(job: &'a (dyn Fn(usize) + Sync), count: usize, shares: &'a [NextPiece]) -> Self {
        let region = Self { job, count, shares, panic: Mutex::new(None) };
        for (share, next) in shares.iter().enumerate() {
            next.0.store(region.share_start(share), Relaxed);
        }
        region
    }

    fn share_start(&self, share: usize) -> usize {
        let (each, rest) = (self.count / self.shares.len(), self.count % self.shares.len());
        share * each + share.min(rest)
    }

    /// Runs the pieces of the thread's own share, then pieces of other shares that have not begun.
    pub(super) fn run_share(&self, own_share: usize) {
        let pieces = || {
            let (before, from) = self.shares.split_at(own_share);
            let (from, before) = (from.iter().zip(own_share..), before.iter().zip(0..));
            for (next, share) in from.chain(before) {
                let end = self.share_start(share + 1);
                loop {
                    let piece = next.0.fetch_add(1, Relaxed);
                    if piece >= end {
                        break;
                    }
                    (self.job)(piece);
                }
            }
        };
        super::IN_REGION.set(true);
        let result = catch_unwind(AssertUnwindSafe(pieces));
        super::IN_REGION.set(false);
        if let Err(payload) = result {
            for (share, next) in self.shares.iter().enumerate() {
                next.0.store(self.share_start(share + 1), Relaxed);
            }
            let mut first = self.panic.lock().unwrap_or_else(PoisonError::into_inner);
            match *first {
                None => *first = Some(payload),
                // Dropping the payload could panic again, and nothing would catch that panic.
                Some(_) => std::mem::forget(payload),
            }
        }
    }

    pub(super) fn into_panic_payload(self) -> Option<Box<dyn Any + Send>> {
        self.panic.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}
