//! The loader: batches of a dataset, in an order that a seed decides.

use std::fmt;
use std::sync::Arc;

use dispatch_runtime::{BadArgument, Result};

use super::collate::Collate;
use super::dataset::Dataset;
use super::position::{Position, SharedPosition};
use super::sampler::{RandomSampler, Sampler, SequentialSampler};
use super::workers::{BatchSource, Job};
use crate::state::{State, StateError, StateProblem, StateReader, Stateful};

/// Makes batches of a dataset's items. Each iterator is an epoch.
///
/// The order of the items and all random numbers of the dataset depend on the seed and the epoch alone, and not on the number of workers. As
/// part of a checkpoint, the loader continues after the last batch that it delivered.
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::data::{DataLoader, DataLoaderOptions, Items};
///
/// let options = DataLoaderOptions { shuffle: true, seed: 1, ..DataLoaderOptions::default() };
/// let loader = DataLoader::with(Items((0..10_i64).collect()), 4, options)?;
/// let mut seen = Vec::new();
/// for batch in &loader {
///     seen.extend(batch?.to_vec::<i64>()?);
/// }
/// assert_ne!(seen, (0..10).collect::<Vec<_>>());
/// seen.sort_unstable();
/// assert_eq!(seen, (0..10).collect::<Vec<_>>());
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
pub struct DataLoader<D: Dataset, B> {
    dataset: Arc<D>,
    batch_size: usize,
    options: DataLoaderOptions,
    collate: Arc<CollateFn<D::Item, B>>,
    position: SharedPosition,
}

/// A function that makes a batch of items.
pub(super) type CollateFn<T, B> = dyn Fn(Vec<T>) -> Result<B> + Send + Sync;

/// The options of a [`DataLoader`].
///
/// ```
/// use dispatch_nn::data::DataLoaderOptions;
/// assert_eq!(DataLoaderOptions::default().prefetch_factor, 2);
/// ```
#[derive(Clone)]
pub struct DataLoaderOptions {
    /// Whether the items come in a random order, a new one in each epoch.
    pub shuffle: bool,
    /// The seed of the order and of the dataset's random numbers.
    pub seed: u64,
    /// Whether a last batch with fewer items is left out.
    pub drop_last: bool,
    /// The number of threads that prepare batches. With zero, the thread of the caller prepares each batch when it is needed.
    pub num_workers: usize,
    /// The number of batches that each worker prepares in advance.
    pub prefetch_factor: usize,
    /// The order of the items, in place of `shuffle`.
    pub sampler: Option<Arc<dyn Sampler>>,
}

impl Default for DataLoaderOptions {
    fn default() -> Self {
        Self { shuffle: false, seed: 0, drop_last: false, num_workers: 0, prefetch_factor: 2, sampler: None }
    }
}

impl fmt::Debug for DataLoaderOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { shuffle, seed, drop_last, num_workers, prefetch_factor, sampler } = self;
        f.debug_struct("DataLoaderOptions")
            .field("shuffle", shuffle)
            .field("seed", seed)
            .field("drop_last", drop_last)
            .field("num_workers", num_workers)
            .field("prefetch_factor", prefetch_factor)
            .field("has_sampler", &sampler.is_some())
            .finish()
    }
}

impl<D> DataLoader<D, <D::Item as Collate>::Batch>
where
    D: Dataset + 'static,
    D::Item: Collate + 'static,
    <D::Item as Collate>::Batch: Send + 'static,
{
    /// Creates a loader of batches in the order of the items.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`] if `batch_size` is zero.
    pub fn new(dataset: D, batch_size: usize) -> Result<Self> {
        Self::with(dataset, batch_size, DataLoaderOptions::default())
    }

    /// Creates a loader with options.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`] if `batch_size` or `prefetch_factor` is zero, or if there is a sampler, and `shuffle` is true.
    pub fn with(dataset: D, batch_size: usize, options: DataLoaderOptions) -> Result<Self> {
        Self::with_collate(dataset, batch_size, options, Collate::collate)
    }
}

impl<D: Dataset + 'static, B: Send + 'static> DataLoader<D, B> {
    /// Creates a loader with a function that makes a batch of items.
    ///
    /// ```
    /// use dispatch_nn::data::{DataLoader, DataLoaderOptions, Items};
    /// let longest = |texts: Vec<&'static str>| Ok(texts.iter().map(|text| text.len()).max());
    /// let loader = DataLoader::with_collate(Items(vec!["a", "bcd", "ef"]), 2, DataLoaderOptions::default(), longest)?;
    /// assert_eq!(loader.iter().next().transpose()?, Some(Some(3)));
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the errors of [`with`](Self::with).
    pub fn with_collate(
        dataset: D,
        batch_size: usize,
        options: DataLoaderOptions,
        collate: impl Fn(Vec<D::Item>) -> Result<B> + Send + Sync + 'static,
    ) -> Result<Self> {
        for (name, number) in [("batch_size", batch_size), ("prefetch_factor", options.prefetch_factor)] {
            if number == 0 {
                return Err(BadArgument::value(name, number, "at least one").into());
            }
        }
        if options.shuffle && options.sampler.is_some() {
            let error = BadArgument::value("shuffle", true, "false");
            return Err(error.because("the sampler decides the order").into());
        }
        let (dataset, collate) = (Arc::new(dataset), Arc::new(collate));
        Ok(Self { dataset, batch_size, options, collate, position: SharedPosition::default() })
    }

    /// Starts an epoch, or continues the one of a loaded checkpoint. `for batch in &loader` does it, too. If the epoch cannot start, because
    /// of an error of the sampler for example, the first batch is that error.
    pub fn iter(&self) -> Batches<'_, B> {
        self.start_epoch().unwrap_or_else(|error| Batches::of_error(error, &self.position))
    }

    fn start_epoch(&self) -> Result<Batches<'_, B>> {
        let start = self.position.start();
        let indices = self.sampler().indices(self.dataset.len(), self.options.seed, start.epoch)?;
        let mut batches: Vec<Vec<usize>> = indices.chunks(self.batch_size).map(<[usize]>::to_vec).collect();
        if self.options.drop_last {
            batches.retain(|batch| batch.len() == self.batch_size);
        }
        let total = batches.len();
        let job = Job {
            dataset: Arc::clone(&self.dataset),
            collate: Arc::clone(&self.collate),
            seed: self.options.seed,
            epoch: start.epoch,
            batches,
        };
        let source = BatchSource::start(job, start.batch, self.options.num_workers, self.options.prefetch_factor)?;
        Ok(Batches { source, position: &self.position, epoch: start.epoch, next: start.batch, total, failed: None })
    }

    /// Returns the number of batches in an epoch.
    #[must_use]
    pub fn len(&self) -> usize {
        let len = self.sampler().num_samples(self.dataset.len());
        if self.options.drop_last { len / self.batch_size } else { len.div_ceil(self.batch_size) }
    }

    /// Returns whether an epoch has no batches.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of the current epoch. The first one is zero.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.position.get().epoch
    }

    /// Returns the dataset.
    #[must_use]
    pub fn dataset(&self) -> &D {
        &self.dataset
    }

    fn sampler(&self) -> &dyn Sampler {
        match &self.options.sampler {
            Some(sampler) => sampler.as_ref(),
            None if self.options.shuffle => &RandomSampler,
            None => &SequentialSampler,
        }
    }

    /// Reads a position. It must be of the same data: the same number of items in batches of the same size, and the same seed.
    fn read(&self, reader: &mut StateReader<'_>) -> Option<Position> {
        for (name, own) in self.identity() {
            if reader.value(name).is_some_and(|saved: u64| saved != own) {
                reader.refuse(name);
            }
        }
        let (epoch, batch) = (reader.value("epoch"), reader.value::<usize>("batch"));
        if batch.is_some_and(|batch| batch > self.len()) {
            reader.refuse("batch");
        }
        Some(Position { epoch: epoch?, batch: batch?, is_loaded: true })
    }

    fn identity(&self) -> [(&'static str, u64); 3] {
        [("items", self.dataset.len() as u64), ("batch_size", self.batch_size as u64), ("seed", self.options.seed)]
    }
}

impl<D: Dataset + 'static, B: Send + 'static> Stateful for DataLoader<D, B> {
    fn state(&self) -> Result<State> {
        let (mut state, position) = (State::default(), self.position.get());
        self.identity().into_iter().for_each(|(name, number)| state.set_value(name, number));
        state.set_value("epoch", position.epoch);
        state.set_value("batch", position.batch);
        Ok(state)
    }

    fn check_state(&self, state: &State) -> Result<Vec<StateProblem>> {
        let mut reader = StateReader::new(state);
        self.read(&mut reader);
        Ok(reader.problems())
    }

    fn load_state(&mut self, state: &State) -> Result<()> {
        StateError::check(self.check_state(state)?)?;
        if let Some(position) = self.read(&mut StateReader::new(state)) {
            self.position.set(position);
        }
        Ok(())
    }
}

impl<D: Dataset, B> fmt::Debug for DataLoader<D, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DataLoader")
            .field("items", &self.dataset.len())
            .field("batch_size", &self.batch_size)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

/// The batches of an epoch. Dropping it stops the workers.
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::data::{DataLoader, Items};
/// let loader = DataLoader::new(Items(vec![1_i64, 2, 3]), 2)?;
/// assert_eq!(loader.iter().len(), 2);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
pub struct Batches<'a, B> {
    source: BatchSource<B>,
    position: &'a SharedPosition,
    epoch: u64,
    next: usize,
    total: usize,
    /// The error of the start of the epoch.
    failed: Option<dispatch_runtime::Error>,
}

impl<'a, B> Batches<'a, B> {
    fn of_error(error: dispatch_runtime::Error, position: &'a SharedPosition) -> Self {
        Self { source: BatchSource::none(), position, epoch: 0, next: 0, total: 0, failed: Some(error) }
    }
}

impl<B> Iterator for Batches<'_, B> {
    type Item = Result<B>;

    fn next(&mut self) -> Option<Result<B>> {
        if let Some(error) = self.failed.take() {
            return Some(Err(error));
        }
        if self.next >= self.total {
            // Another iterator may have moved the position.
            let own = Position { epoch: self.epoch, batch: self.next, is_loaded: false };
            if self.total > 0 && self.position.get() == own {
                self.position.set(Position { epoch: self.epoch.wrapping_add(1), ..Position::default() });
            }
            return None;
        }
        let batch = self.source.batch(self.next);
        self.next += 1;
        self.position.set(Position { epoch: self.epoch, batch: self.next, is_loaded: false });
        Some(batch)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.total - self.next.min(self.total) + usize::from(self.failed.is_some());
        (left, Some(left))
    }
}

impl<B> ExactSizeIterator for Batches<'_, B> {}

impl<B> fmt::Debug for Batches<'_, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Batches({} of {} in epoch {})", self.next, self.total, self.epoch)
    }
}

impl<'a, D: Dataset + 'static, B: Send + 'static> IntoIterator for &'a DataLoader<D, B> {
    type Item = Result<B>;
    type IntoIter = Batches<'a, B>;

    fn into_iter(self) -> Batches<'a, B> {
        self.iter()
    }
}
