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
/// let draw = || Generator::default_for(Device::CPU).reserve(4);
/// let (first, recording) = RandomRecording::record(draw);
/// let next = draw();
/// assert_eq!(recording.replay(draw), first);
/// assert!(next != first && draw() != next);
/// ```
#[derive(Clone, Debug)]
pub struct RandomRecording(Vec<ReservedBlocks>);

#[derive(Clone, Copy, Debug)]
struct ReservedBlocks {
    count: u64,
    seed: u64,
    first_block: u64,
}

/// A recording or a replay that runs on this thread.
enum RandomScope {
    Recording(Vec<ReservedBlocks>),
    Replaying(vec::IntoIter<ReservedBlocks>),
}

thread_local! {
    /// The recordings and replays that run on this thread, the innermost last.
    static RANDOM_SCOPES: RefCell<Vec<RandomScope>> = const { RefCell::new(Vec::new()) };
}

impl RandomRecording {
    /// Runs a function, and records the random blocks that it reserves on this thread.
    pub fn record<R>(function: impl FnOnce() -> R) -> (R, Self) {
        let _guard = ScopeGuard::enter(RandomScope::Recording(Vec::new()));
        let result = function();
        match RANDOM_SCOPES.with_borrow_mut(Vec::pop) {
            Some(RandomScope::Recording(blocks)) => (result, Self(blocks)),
            _ => (result, Self(Vec::new())),
        }
    }

    /// Runs a function with the recorded random blocks. Each reservation gets the next recorded blocks if their number is equal, and new
    /// blocks otherwise. Changes of a generator's seed or position have no effect meanwhile.
    pub fn replay<R>(&self, function: impl FnOnce() -> R) -> R {
        let _guard = ScopeGuard::enter(RandomScope::Replaying(self.0.clone().into_iter()));
        function()
    }
}

/// A guard that ends a recording or replay when it is dropped, with all that are nested in it.
struct ScopeGuard(usize);

impl ScopeGuard {
    fn enter(scope: RandomScope) -> Self {
        RANDOM_SCOPES.with_borrow_mut(|scopes| {
            scopes.push(scope);
            Self(scopes.len() - 1)
        })
    }
}

impl Drop for ScopeGuard {
    fn drop(&mut self) {
        RANDOM_SCOPES.with_borrow_mut(|scopes| scopes.truncate(self.0));
    }
}

/// Reserves `count` blocks, and returns the seed and the index of the first one. A replay returns the recorded blocks if their number is
/// `count`; otherwise `new` reserves blocks.
pub(crate) fn reserve_or_replay(count: u64, new: impl FnOnce() -> (u64, u64)) -> (u64, u64) {
    RANDOM_SCOPES.with_borrow_mut(|scopes| {
        let (mut depth, mut recorded) = (scopes.len(), None);
        while recorded.is_none() && depth > 0 {
            depth -= 1;
            if let RandomScope::Replaying(left) = &mut scopes[depth]
                && left.as_slice().first().is_some_and(|blocks| blocks.count == count)
            {
                recorded = left.next();
            }
        }
        let (seed, first_block) =
            recorded.map_or_else(new, |ReservedBlocks { seed, first_block, .. }| (seed, first_block));
        for scope in &mut scopes[depth..] {
            if let RandomScope::Recording(blocks) = scope {
                blocks.push(ReservedBlocks { count, seed, first_block });
            }
        }
        (seed, first_block)
    })
}

/// Returns whether a recording is being replayed on this thread.
pub(crate) fn is_replaying() -> bool {
    RANDOM_SCOPES.with_borrow(|scopes| scopes.iter().any(|scope| matches!(scope, RandomScope::Replaying(_))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Device;
    use crate::random::generator::Generator;

    #[test]
    fn a_nested_recording_can_be_replayed_with_the_outer_one_or_alone() {
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
    fn a_replay_does_not_move_the_generator() {
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
