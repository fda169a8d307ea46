//! The memory of repeated computations: each block gets a fixed place.
//!
//! The caching allocator reuses a block for another one of the same size class only. So a network with tensors of many sizes keeps blocks
//! of each class, although few are in use at one time. A run that repeats the allocations of the run before it needs no classes: the
//! lifetimes of its blocks are known.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ptr::NonNull;
use std::sync::Arc;

use super::caching_allocator::{ALIGNMENT, SizeClass, free_cached_blocks};
use super::places::{BlockLifetime, places};
use super::region::{Place, Region, place_size};
use super::shared::Shared;

/// A run of this many events or more gets no layout.
const MAX_EVENTS: usize = 1 << 12;

/// The memory of a computation that is repeated, such as a program on inputs of the same sizes.
///
/// When two runs in a row allocate and free blocks of the same sizes in the same order, each block that is freed within the run has a fixed
/// place in one region of memory from the next run on. A region is a block of the caching allocator, and is returned to it when the run and
/// all blocks in it have ended. A block of another size than in the recorded runs is allocated as without a layout, and so is one whose place
/// is still in use. After a run that differs, there is no layout until two runs are equal again. After a run that leaves a block in its
/// place, there is none any more, because each such block keeps a region.
///
/// A layout is of CPU memory that the calling thread allocates. Blocks of up to 64 KiB have no place: the thread caches them.
///
/// ```
/// use dispatch_runtime::{MemoryLayout, Storage};
///
/// let mut layout = MemoryLayout::default();
/// for _ in 0..3 {
///     layout.run(|| [300_000, 200_000, 100_000].map(|size| drop(Storage::new_host(size))));
/// }
/// // One block is in use at one time.
/// assert!((300_000..400_000).contains(&layout.size()));
/// ```
#[derive(Debug, Default)]
pub struct MemoryLayout {
    /// The events of the last run.
    events: Vec<Event>,
    /// The places of the blocks in the order of their allocations. A block that was not freed within the run has an empty place.
    places: Option<Arc<[Place]>>,
    /// Whether a run left a block in its place.
    is_given_up: bool,
}

/// An event of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    Allocate(SizeClass),
    /// The block of this allocation is freed.
    Free(usize),
}

impl MemoryLayout {
    /// Runs the computation, and lets its blocks have their places. Within a run of another layout, it is a part of that run.
    pub fn run<R>(&mut self, run: impl FnOnce() -> R) -> R {
        if self.is_given_up || current_recording(|recording| recording.is_none()) != Some(true) {
            return run();
        }
        let region = self.places.as_ref().and_then(|places| Region::new(places.clone()).ok());
        let recording = Recording { events: Vec::with_capacity(self.events.len()), region, ..Recording::default() };
        current_recording(|current| *current = Some(recording));
        let ending = EndOfRun;
        let result = run();
        let recording = current_recording(Option::take).flatten();
        drop(ending);
        if let Some(recording) = recording {
            self.update(recording);
        }
        result
    }

    /// Returns the size of the region in bytes, or 0 without a layout.
    #[must_use]
    pub fn size(&self) -> usize {
        self.places.as_deref().map_or(0, Region::size)
    }

    /// Takes the events of a run. The second of two equal runs makes the layout.
    fn update(&mut self, recorded: Recording) {
        if recorded.region.is_some_and(|region| !Shared::is_unique(&region)) {
            *self = Self { is_given_up: true, ..Self::default() };
        } else if recorded.events != self.events {
            self.events = recorded.events;
            self.places = None;
        } else if self.places.is_none() {
            self.places = places_of(&self.events);
            if self.places.is_some() {
                // The next runs use the region instead.
                free_cached_blocks(&recorded.blocks);
            }
        }
    }
}

/// Returns the places of the blocks that are freed in a run, or `None` if there is no such block.
fn places_of(events: &[Event]) -> Option<Arc<[Place]>> {
    if events.len() >= MAX_EVENTS {
        return None;
    }
    let (mut blocks, mut allocations, mut freed) = (Vec::new(), Vec::new(), Vec::new());
    for (time, event) in events.iter().enumerate() {
        match *event {
            Event::Allocate(class) => allocations.push((time, class)),
            Event::Free(allocation) => {
                let (first, class) = *allocations.get(allocation)?;
                blocks.push(BlockLifetime { size: place_size(class), first, last: time });
                freed.push(allocation);
            }
        }
    }
    let mut places_by_allocation = vec![0..0; allocations.len()];
    for (allocation, place) in freed.iter().zip(places(&blocks)) {
        places_by_allocation[*allocation] = place;
    }
    // A region that the cache does not keep would be mapped anew in each run.
    let size = Region::size(&places_by_allocation).saturating_add(ALIGNMENT);
    let fits = SizeClass::for_elements(size).is_some_and(SizeClass::fits_in_shared_cache);
    (!freed.is_empty() && fits).then(|| places_by_allocation.into())
}

/// The run in progress on this thread.
#[derive(Default)]
struct Recording {
    events: Vec<Event>,
    /// The blocks in the order of their allocations.
    blocks: Vec<NonNull<u8>>,
    /// The allocations of the blocks in use.
    in_use: HashMap<NonNull<u8>, usize>,
    region: Option<Shared<Region>>,
}

thread_local! {
    static RECORDING: RefCell<Option<Recording>> = const { RefCell::new(None) };
}

/// Calls `f` with the run in progress, unless the thread is ending.
fn current_recording<R>(f: impl FnOnce(&mut Option<Recording>) -> R) -> Option<R> {
    RECORDING.try_with(|recording| Some(f(&mut *recording.try_borrow_mut().ok()?))).ok().flatten()
}

/// Ends the recording when it is dropped, as after a panic.
struct EndOfRun;

impl Drop for EndOfRun {
    fn drop(&mut self) {
        // The recording is dropped after the borrow, because the free of its region looks for a recording, too.
        drop(current_recording(Option::take));
    }
}

/// Allocates a block at its place in the run in progress, if it has a place that is not in use.
pub(super) fn allocate_in_place(class: SizeClass) -> Option<NonNull<u8>> {
    current_recording(|recording| {
        let recording = recording.as_ref()?;
        Region::allocate(recording.region.as_ref()?, recording.blocks.len(), class)
    })
    .flatten()
}

/// Records the allocation of a block in the run in progress.
pub(super) fn record_allocation(class: SizeClass, block: NonNull<u8>) {
    current_recording(|recording| {
        if let Some(recording) = recording.as_mut().filter(|recording| recording.events.len() < MAX_EVENTS) {
            recording.in_use.insert(block, recording.blocks.len());
            recording.events.push(Event::Allocate(class));
            recording.blocks.push(block);
        }
    });
}

/// Records the free of a block, if the run in progress allocated it.
pub(super) fn record_free(block: NonNull<u8>) {
    current_recording(|recording| {
        if let Some(recording) = recording.as_mut().filter(|recording| recording.events.len() < MAX_EVENTS)
            && let Some(allocation) = recording.in_use.remove(&block)
        {
            recording.events.push(Event::Free(allocation));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Storage;
    use crate::tensor::Tensor;

    /// The size of a block that has a place.
    const SIZE: usize = 100_000;

    fn address(storage: &Storage) -> usize {
        storage.host_address().unwrap().addr().get()
    }

    /// Allocates blocks one after the other, each while the one before it is in use. Returns the addresses and the last block.
    fn chain(sizes: &[usize]) -> (Vec<usize>, Option<Storage>) {
        let (mut addresses, mut last) = (Vec::new(), None);
        for size in sizes {
            let next = Storage::try_new_host_unzeroed(*size).unwrap();
            addresses.push(address(&next));
            last = Some(next);
        }
        (addresses, last)
    }

    #[test]
    fn blocks_of_the_third_equal_run_share_one_region() {
        let mut layout = MemoryLayout::default();
        let sizes = [SIZE, 2 * SIZE, 3 * SIZE, 4 * SIZE, 5 * SIZE];
        for _ in 0..2 {
            assert_eq!(layout.size(), 0);
            layout.run(|| drop(chain(&sizes)));
        }
        assert!((9 * SIZE..12 * SIZE).contains(&layout.size()), "{}", layout.size());
        for _ in 0..2 {
            let addresses = layout.run(|| chain(&sizes).0);
            let places = layout.places.as_ref().unwrap();
            for (address, place) in addresses.iter().zip(places.iter()) {
                assert_eq!(address.wrapping_sub(addresses[0]), place.start.wrapping_sub(places[0].start));
            }
        }
    }

    #[test]
    fn a_block_that_outlives_the_run_has_no_place() {
        let mut layout = MemoryLayout::default();
        let mut results = Vec::new();
        for _ in 0..4 {
            results.push(layout.run(|| chain(&[SIZE, SIZE]).1.unwrap()));
        }
        assert!((SIZE..2 * SIZE).contains(&layout.size()));
        let mut addresses: Vec<_> = results.iter().map(address).collect();
        addresses.sort_unstable();
        assert!(addresses.windows(2).all(|pair| pair[1] - pair[0] >= SIZE));
    }

    #[test]
    fn a_block_that_a_run_keeps_longer_than_before_is_not_overwritten() {
        let mut layout = MemoryLayout::default();
        let run = |keep: bool| {
            let kept = Storage::new_host(SIZE);
            let kept = keep.then_some(kept);
            drop(Storage::new_host(SIZE));
            let other = Storage::new_host(2 * SIZE);
            assert!(kept.as_ref().is_none_or(|kept| address(kept).abs_diff(address(&other)) >= SIZE));
            kept
        };
        for _ in 0..3 {
            layout.run(|| run(false));
        }
        assert!(layout.size() > 0);
        let kept = layout.run(|| run(true)).unwrap();
        for _ in 0..3 {
            let again = layout.run(|| run(true)).unwrap();
            assert!(address(&again).abs_diff(address(&kept)) >= SIZE);
            layout.run(|| run(false));
            assert_eq!(layout.size(), 0);
        }
    }

    #[test]
    fn a_layout_is_made_again_after_other_runs() {
        let mut layout = MemoryLayout::default();
        let mut sizes = Vec::new();
        for size in [SIZE, SIZE, SIZE, 3 * SIZE, SIZE, SIZE, SIZE] {
            layout.run(|| drop(chain(&[size])));
            sizes.push(layout.size() > 0);
        }
        assert_eq!(sizes, [false, true, true, false, false, true, true]);
    }

    #[test]
    fn a_run_of_many_blocks_has_no_layout() {
        let mut layout = MemoryLayout::default();
        let sizes = vec![SIZE; MAX_EVENTS];
        let mut kept = Vec::new();
        for _ in 0..3 {
            kept.push(layout.run(|| chain(&sizes).1));
            assert_eq!(layout.size(), 0);
        }
    }

    #[test]
    fn blocks_that_need_more_memory_than_the_cache_keeps_have_no_places() {
        let places = |mebibytes: usize| {
            let block = Event::Allocate(SizeClass::for_elements(mebibytes << 20).unwrap());
            places_of(&[block, block, Event::Free(0), Event::Free(1)])
        };
        assert!(places(150).is_some() && places(300).is_none());
    }

    #[test]
    fn a_block_in_a_region_can_be_freed_on_another_thread() {
        let mut layout = MemoryLayout::default();
        let run = |send: &dyn Fn(Tensor)| {
            for number in 0..20_u8 {
                let bytes = vec![number; 2 * SIZE];
                let (sent, kept) = (Tensor::from_slice(&bytes[..SIZE]), Tensor::from_slice(&bytes));
                send(sent);
                drop(Tensor::from_slice(&bytes[..SIZE]));
                assert_eq!(*kept.read::<u8>().unwrap(), *bytes);
            }
        };
        for _ in 0..2 {
            layout.run(|| run(&drop));
        }
        assert!(layout.size() > 0);
        for _ in 0..3 {
            let (sender, receiver) = std::sync::mpsc::channel::<Tensor>();
            let other =
                std::thread::spawn(move || receiver.into_iter().map(|sent| sent.storage().size()).sum::<usize>());
            layout.run(|| run(&|sent| sender.send(sent).unwrap()));
            drop(sender);
            assert_eq!(other.join().unwrap(), 20 * SIZE);
        }
    }

    #[test]
    fn runs_of_other_sizes_have_no_places() {
        let mut layout = MemoryLayout::default();
        for step in 0..6 {
            layout.run(|| drop(chain(&[SIZE << step, SIZE])));
            assert_eq!(layout.size(), 0);
        }
    }

    #[test]
    fn a_run_within_another_is_a_part_of_it() {
        let (mut outer, mut inner) = (MemoryLayout::default(), MemoryLayout::default());
        for _ in 0..3 {
            outer.run(|| inner.run(|| drop(chain(&[SIZE, SIZE]))));
        }
        assert!(outer.size() > 2 * SIZE);
        assert_eq!(inner.size(), 0);
    }

    #[test]
    fn a_run_that_panics_ends_its_recording() {
        let (mut layout, mut kept) = (MemoryLayout::default(), Vec::new());
        for has_panic in [true, false, false, true, false] {
            let run = || {
                kept.extend(chain(&[SIZE]).1.filter(|_| has_panic));
                assert!(!has_panic);
            };
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| layout.run(run)));
            assert_eq!(outcome.is_err(), has_panic);
            assert_eq!(current_recording(|recording| recording.is_none()), Some(true));
        }
        assert!(address(&kept[0]).abs_diff(address(&kept[1])) >= SIZE);
        assert!(layout.size() > 0);
    }

    #[test]
    fn threads_run_layouts_of_their_own_and_free_blocks_of_others() {
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let mut layout = MemoryLayout::default();
                    for _ in 0..8 {
                        let block = layout.run(|| chain(&[SIZE, 2 * SIZE, SIZE, SIZE]).1);
                        scope.spawn(|| drop(block));
                    }
                    assert!(layout.size() > 2 * SIZE);
                });
            }
        });
    }
}
