//! The preparation of batches, by the caller or by worker threads.
//!
//! Batch `i` is prepared by worker `i % workers`, which has a bounded channel of its own. So batches arrive in order without a queue that sorts
//! them. When the receivers are dropped, each worker stops at its next item.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use aten::prelude::*;
use aten::set_default_device;
use dispatch_runtime::{Device, Generator, Result, Tensor, guard};

use super::dataset::Dataset;
use super::error::DataError;
use super::loader::CollateFn;
use super::random_numbers::{Purpose, derived_seed};

/// The batches of an epoch, with the dataset and the functions that prepare them.
pub(super) struct Job<D: Dataset, B> {
    pub(super) dataset: Arc<D>,
    pub(super) collate: Arc<CollateFn<D::Item, B>>,
    pub(super) seed: u64,
    pub(super) epoch: u64,
    /// The indices of the items of each batch.
    pub(super) batches: Vec<Vec<usize>>,
}

/// The source of prepared batches.
pub(super) enum BatchSource<B> {
    /// The thread of the caller.
    Caller(Box<dyn Fn(usize) -> Result<B>>),
    Workers(Workers<B>),
}

pub(super) struct Workers<B> {
    receivers: Vec<Receiver<Result<B>>>,
    threads: Vec<JoinHandle<()>>,
    stops: Arc<AtomicBool>,
}

impl<B> BatchSource<B> {
    pub(super) fn none() -> Self {
        Self::Caller(Box::new(|_| Err(DataError::NoWorker.into())))
    }

    /// Returns the batch `index`. The indices are those after the start, in order.
    pub(super) fn batch(&self, index: usize) -> Result<B> {
        match self {
            Self::Caller(prepare) => prepare(index),
            Self::Workers(workers) => {
                let worker =
                    index.checked_rem(workers.receivers.len()).and_then(|worker| workers.receivers.get(worker));
                let received = worker.and_then(|receiver| receiver.recv().ok());
                received.unwrap_or_else(|| Err(DataError::NoWorker.into()))
            }
        }
    }
}

impl<B: Send + 'static> BatchSource<B> {
    /// Starts to prepare batches, from batch `first` on.
    pub(super) fn start<D: Dataset + 'static>(
        job: Job<D, B>,
        first: usize,
        num_workers: usize,
        prefetch_factor: usize,
    ) -> Result<Self> {
        let device = Tensor::empty(0, ())?.device();
        let left = job.batches.len().saturating_sub(first);
        let num_workers = num_workers.min(left);
        if num_workers == 0 {
            return Ok(Self::Caller(Box::new(move |index| job.prepare(index, device, &|| false))));
        }
        let (job, stops) = (Arc::new(job), Arc::new(AtomicBool::new(false)));
        let (mut receivers, mut threads) = (Vec::new(), Vec::new());
        for worker in 0..num_workers {
            // One more batch than the channel holds waits in the worker.
            let (sender, receiver) = sync_channel(prefetch_factor.saturating_sub(1).min(left));
            let (job, stops) = (Arc::clone(&job), Arc::clone(&stops));
            receivers.push(receiver);
            threads.push(guard::spawn(move || {
                let _default_device = set_default_device(device);
                job.run(worker, num_workers, first, device, &stops, &sender);
            }));
        }
        Ok(Self::Workers(Workers { receivers, threads, stops }))
    }
}

impl<B> Drop for Workers<B> {
    fn drop(&mut self) {
        self.stops.store(true, Ordering::Relaxed);
        // Without receivers, a worker that waits to send a batch ends.
        self.receivers.clear();
        for thread in self.threads.drain(..) {
            // A worker catches the panics of the dataset.
            drop(thread.join());
        }
    }
}

impl<D: Dataset, B> Job<D, B> {
    /// Prepares the batches of a worker.
    fn run(
        &self,
        worker: usize,
        num_workers: usize,
        first: usize,
        device: Device,
        stops: &AtomicBool,
        sender: &SyncSender<Result<B>>,
    ) {
        let stops = || stops.load(Ordering::Relaxed);
        for index in (first..self.batches.len()).filter(|index| index % num_workers == worker) {
            let prepare = AssertUnwindSafe(|| self.prepare(index, device, &stops));
            let batch = catch_unwind(prepare).unwrap_or_else(|panic| {
                Err(DataError::WorkerPanicked { batch: index, message: panic_message(panic.as_ref()) }.into())
            });
            if stops() || sender.send(batch).is_err() {
                return;
            }
        }
    }

    fn prepare(&self, batch: usize, device: Device, stops: &dyn Fn() -> bool) -> Result<B> {
        let indices = self.batches.get(batch).map(Vec::as_slice).unwrap_or_default();
        let mut items = Vec::with_capacity(indices.len());
        for &index in indices {
            if stops() {
                return Err(DataError::NoWorker.into());
            }
            let seed = derived_seed(self.seed, Purpose::Items, self.epoch, index);
            let item = with_generators(seed, device, || self.dataset.get(index));
            items.push(item.map_err(|source| DataError::Item { index, source })?);
        }
        let seed = derived_seed(self.seed, Purpose::Batches, self.epoch, batch);
        with_generators(seed, device, || (self.collate)(items))
    }
}

/// Calls `f` with new default generators.
fn with_generators<R>(seed: u64, device: Device, f: impl FnOnce() -> R) -> R {
    let _on_host = Generator::new(Device::CPU, seed).make_default();
    let _on_device = (device != Device::CPU).then(|| Generator::new(device, seed).make_default());
    f()
}

/// Returns the text of a panic.
fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}
