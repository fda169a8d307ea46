//! Recording and replay of random numbers, for checkpoints that compute a function twice.
//!
//! A checkpointed function runs a second time because its intermediate results were not kept. The second run must draw the same random
//! numbers. Resetting the generators would give the same numbers to other threads as well. So the first run records the blocks that it
//! reserves. The second run reserves the same blocks again, on its own thread, and no generator moves.

use std::cell::RefCell;
use std::vec;

/// A recording of the random blocks that a function reserved from any generators, in order.
///
/// ```
/// use dispatch_runtime::{Device, Generator, RandomRecording};
///
/// let draw = || Generator::of(Device::CPU).reserve(4);
/// let (first, recording) = RandomRecording::record(draw);
/// let next = draw();
/// assert_eq!(recording.replay(draw), first);
/// assert!(next != first && draw() != next);
/// ```
#[derive(Clone, Debug)]
pub struct RandomRecording(Vec<Blocks>);

#[derive(Clone, Copy, Debug)]
struct Blocks {
    count: u64,
    seed: u64,
    first: u64,
}

/// A recording or a replay that runs on this thread.
enum Part {
    Noted(Vec<Blocks>),
    Again(vec::IntoIter<Blocks>),
}

thread_local! {
    /// The recordings and replays that run on this thread, the innermost last.
    static PARTS: RefCell<Vec<Part>> = const { RefCell::new(Vec::new()) };
}

impl RandomRecording {
    /// Runs a function, and records the random blocks that it reserves on this thread.
    pub fn record<R>(part: impl FnOnce() -> R) -> (R, Self) {
        let _inside = Inside::begin(Part::Noted(Vec::new()));
        let result = part();
        match PARTS.with_borrow_mut(Vec::pop) {
            Some(Part::Noted(blocks)) => (result, Self(blocks)),
            _ => (result, Self(Vec::new())),
        }
    }

    /// Runs a function with the recorded random blocks. Each reservation gets the next recorded blocks if their number is equal, and new
    /// blocks otherwise. Changes of a generator's seed or position have no effect meanwhile.
    pub fn replay<R>(&self, part: impl FnOnce() -> R) -> R {
        let _inside = Inside::begin(Part::Again(self.0.clone().into_iter()));
        part()
    }
}

/// A guard that ends a recording or replay when it is dropped, with all that are nested in it.
struct Inside(usize);

impl Inside {
    fn begin(part: Part) -> Self {
        PARTS.with_borrow_mut(|parts| {
            parts.push(part);
            Self(parts.len() - 1)
        })
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        PARTS.with_borrow_mut(|parts| parts.truncate(self.0));
    }
}

/// Returns the seed and the first block of a reservation. A replay returns the recorded ones if their number is `count`; otherwise `new`
/// reserves blocks.
pub(crate) fn reserve(count: u64, new: impl FnOnce() -> (u64, u64)) -> (u64, u64) {
    PARTS.with_borrow_mut(|parts| {
        let (mut inside_of, mut had) = (parts.len(), None);
        while had.is_none() && inside_of > 0 {
            inside_of -= 1;
            if let Part::Again(left) = &mut parts[inside_of]
                && left.as_slice().first().is_some_and(|blocks| blocks.count == count)
            {
                had = left.next();
            }
        }
        let (seed, first) = had.map_or_else(new, |Blocks { seed, first, .. }| (seed, first));
        for part in &mut parts[inside_of..] {
            if let Part::Noted(blocks) = part {
                blocks.push(Blocks { count, seed, first });
            }
        }
        (seed, first)
    })
}

/// Returns whether a recording is being replayed on this thread.
pub(crate) fn is_again() -> bool {
    PARTS.with_borrow(|parts| parts.iter().any(|part| matches!(part, Part::Again(_))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Device;
    use crate::random::generator::Generator;

    #[test]
    fn a_part_of_a_part_draws_again_with_it_and_alone() {
        let generator = Generator::new(Device::CPU, 3);
        let draw = || generator.reserve(1).1;
        let ((inner, last), outer) = RandomRecording::record(|| (RandomRecording::record(|| [draw(), draw()]), draw()));
        assert_eq!((inner.0, last), ([0, 1], 2));
        let ((again, alone), of_last) = outer.replay(|| (RandomRecording::record(|| [draw(), draw()]), draw()));
        assert_eq!((again, of_last, draw()), ([0, 1], 2, 3));
        assert_eq!(alone.replay(|| [draw(), draw()]), [0, 1]);
        assert_eq!(inner.1.replay(|| [draw(), draw(), draw()]), [0, 1, 4]);
    }

    #[test]
    fn generators_stay_where_they_are() {
        let generator = Generator::new(Device::CPU, 3);
        let seeded = || {
            generator.set_seed(7);
            generator.reserve(2)
        };
        let (first, recording) = RandomRecording::record(seeded);
        assert_eq!(recording.replay(seeded), first);
        let caught = std::panic::catch_unwind(|| recording.replay(|| panic!("inside")));
        assert!(caught.is_err() && generator.reserve(1) == (7, 2));
    }
}
