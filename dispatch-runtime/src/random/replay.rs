//! The random numbers of a part of a program, to be drawn again.
//!
//! A part that runs a second time, because what it computed was not kept, has to draw what it drew. Setting generators back would hand its
//! numbers to other threads as well, and theirs to it. So it is noted which blocks the part reserved; they are given out again on the
//! thread that runs it, and generators stay where they are.

use std::cell::RefCell;
use std::vec;

/// The blocks that a part of a program reserved, of whichever generators, in order.
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

/// A part of the program that runs just now.
enum Part {
    Noted(Vec<Blocks>),
    Again(vec::IntoIter<Blocks>),
}

thread_local! {
    /// The innermost last.
    static PARTS: RefCell<Vec<Part>> = const { RefCell::new(Vec::new()) };
}

impl RandomRecording {
    /// Runs a part, and notes what it draws on this thread.
    pub fn record<R>(part: impl FnOnce() -> R) -> (R, Self) {
        let _inside = Inside::begin(Part::Noted(Vec::new()));
        let result = part();
        match PARTS.with_borrow_mut(Vec::pop) {
            Some(Part::Noted(blocks)) => (result, Self(blocks)),
            _ => (result, Self(Vec::new())),
        }
    }

    /// Runs the part again: it draws the same, as far as it draws as much, and seeds and places of generators are not changed meanwhile.
    pub fn replay<R>(&self, part: impl FnOnce() -> R) -> R {
        let _inside = Inside::begin(Part::Again(self.0.clone().into_iter()));
        part()
    }
}

/// Ends a part, and all that are inside of it.
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

/// The seed and the first block of a reservation: of a part that runs again, those it had, and else what `new` gives.
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

/// Whether a part runs again on this thread.
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
