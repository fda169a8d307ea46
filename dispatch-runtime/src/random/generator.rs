//! Random number generators, which random operators draw their numbers from.
//!
//! A generator is a seed and a position in a stream of blocks; it stores no numbers. Block `n` of the stream is [`philox`](crate::philox)
//! of the seed and `n`. An operator reserves as many blocks as it needs, and any thread of any backend can then compute any of them. So the
//! numbers depend only on the seed and on the earlier calls.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use super::philox::philox;
use super::replay;
use crate::key::{DENSE, Device, KeySet, layer_bit};

/// A counter-based random number generator of one device. Cloning it shares its state.
///
/// ```
/// use dispatch_runtime::{Device, Generator};
/// let generator = Generator::new(Device::CPU, 42);
/// assert_eq!(generator.reserve(3), (42, 0));
/// assert_eq!(generator.reserve(1), (42, 3));
/// ```
#[derive(Clone)]
pub struct Generator(Arc<GeneratorState>);

struct GeneratorState {
    device: Device,
    position: Mutex<StreamPosition>,
}

#[derive(Clone, Copy)]
struct StreamPosition {
    seed: u64,
    next_block: u64,
}

thread_local! {
    /// The generators that replace the default ones on this thread, the latest last.
    static THREAD_DEFAULT_GENERATORS: RefCell<Vec<Generator>> = const { RefCell::new(Vec::new()) };
}

/// A guard that makes a generator the default one of its device on this thread, see [`Generator::make_default`].
pub struct DefaultGeneratorGuard {
    generator: Generator,
    /// Makes the guard `!Send`: it changes the thread that created it.
    not_send: PhantomData<*const ()>,
}

impl Drop for DefaultGeneratorGuard {
    fn drop(&mut self) {
        THREAD_DEFAULT_GENERATORS.with_borrow_mut(|all| {
            if let Some(at) = all.iter().rposition(|generator| generator.same(&self.generator)) {
                all.remove(at);
            }
        });
    }
}

/// The third word of the Philox counter for the seeds of forks, which keeps them apart from the blocks of the stream.
const FORK_WORD: u32 = 1;

/// The default generators, and the seed of those that are created later.
struct DefaultGenerators {
    seed: u64,
    generators: HashMap<Device, Generator>,
}

/// The default generators of all devices. The initial seed is PyTorch's.
static DEFAULT_GENERATORS: LazyLock<Mutex<DefaultGenerators>> =
    LazyLock::new(|| Mutex::new(DefaultGenerators { seed: 67_280_421_310_721, generators: HashMap::new() }));

thread_local! {
    static RESERVATION_COUNT: Cell<u64> = const { Cell::new(0) };
}

/// Seeds the default generator of every device. The same seed gives the same numbers on every device and for every number of threads. The
/// numbers differ from those of PyTorch's CPU generator.
///
/// ```
/// use dispatch_runtime::{Device, Generator, manual_seed};
/// manual_seed(7);
/// assert_eq!(Generator::default_for(Device::CPU).seed(), 7);
/// ```
pub fn manual_seed(seed: u64) {
    let mut defaults = lock_ignoring_poison(&DEFAULT_GENERATORS);
    defaults.seed = seed;
    defaults.generators.values().for_each(|generator| generator.set_seed(seed));
}

impl Generator {
    /// Creates a generator at the start of the stream of `seed`.
    #[must_use]
    pub fn new(device: Device, seed: u64) -> Self {
        Self(Arc::new(GeneratorState { device, position: Mutex::new(StreamPosition { seed, next_block: 0 }) }))
    }

    /// Returns the default generator of a device, which operators use if they are called without a generator.
    ///
    /// ```
    /// use dispatch_runtime::{Device, Generator};
    /// let generator = Generator::default_for(Device::CPU);
    /// let before = generator.position();
    /// assert!(Generator::default_for(Device::CPU).reserve(2).1 >= before);
    /// ```
    #[must_use]
    pub fn default_for(device: Device) -> Self {
        let replaced = THREAD_DEFAULT_GENERATORS
            .with_borrow(|all| all.iter().rev().find(|generator| generator.device() == device).cloned());
        if let Some(generator) = replaced {
            return generator;
        }
        let mut defaults = lock_ignoring_poison(&DEFAULT_GENERATORS);
        let seed = defaults.seed;
        defaults.generators.entry(device).or_insert_with(|| Self::new(device, seed)).clone()
    }

    /// Makes this generator the default one of its device, on this thread only, until the returned guard is dropped.
    ///
    /// ```
    /// use dispatch_runtime::{Device, Generator};
    /// let own = Generator::new(Device::CPU, 1);
    /// let is_default = own.make_default();
    /// assert!(Generator::default_for(Device::CPU).same(&own));
    /// drop(is_default);
    /// assert!(!Generator::default_for(Device::CPU).same(&own));
    /// ```
    #[must_use = "a guard that is not bound to a name is dropped at once"]
    pub fn make_default(&self) -> DefaultGeneratorGuard {
        THREAD_DEFAULT_GENERATORS.with_borrow_mut(|all| all.push(self.clone()));
        DefaultGeneratorGuard { generator: self.clone(), not_send: PhantomData }
    }

    /// Returns whether both are clones of one generator, which share its state.
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Returns the device whose operators use this generator.
    #[must_use]
    pub fn device(&self) -> Device {
        self.0.device
    }

    /// Returns the seed of the generator's stream.
    #[must_use]
    pub fn seed(&self) -> u64 {
        lock_ignoring_poison(&self.0.position).seed
    }

    /// Moves the generator to the start of the stream of `seed`. During a replay of a [`RandomRecording`](crate::RandomRecording), it does
    /// nothing.
    ///
    /// ```
    /// use dispatch_runtime::{Device, Generator};
    /// let generator = Generator::new(Device::CPU, 1);
    /// generator.reserve(5);
    /// generator.set_seed(2);
    /// assert_eq!(generator.reserve(1), (2, 0));
    /// ```
    pub fn set_seed(&self, seed: u64) {
        if !replay::is_replaying() {
            *lock_ignoring_poison(&self.0.position) = StreamPosition { seed, next_block: 0 };
        }
    }

    /// Returns the index of the block that will be reserved next.
    #[must_use]
    pub fn position(&self) -> u64 {
        lock_ignoring_poison(&self.0.position).next_block
    }

    /// Moves the generator to a position in the stream, such as one that was saved. During a replay of a
    /// [`RandomRecording`](crate::RandomRecording), it does nothing.
    ///
    /// ```
    /// use dispatch_runtime::{Device, Generator};
    /// let generator = Generator::new(Device::CPU, 1);
    /// let saved = generator.position();
    /// let first = generator.reserve(8);
    /// generator.seek(saved);
    /// assert_eq!(generator.reserve(8), first);
    /// ```
    pub fn seek(&self, position: u64) {
        if !replay::is_replaying() {
            lock_ignoring_poison(&self.0.position).next_block = position;
        }
    }

    /// The number of blocks in a group, the unit that kernels use. A block has four words. A group serves 256 elements of one word each, or
    /// 128 elements of two words each. Element `i` of a group takes word `i / 64` of block `i % 64`. An element of two words takes words
    /// `2 * (i / 64)` (the lower half) and `2 * (i / 64) + 1` of that block. Elements are numbered in row-major order of the sizes; strides
    /// make no difference.
    pub const BLOCKS_PER_GROUP: usize = 64;

    /// Reserves the next `count` blocks of the stream for the caller. Returns the seed and the index of the first block.
    #[expect(clippy::must_use_candidate, reason = "a caller may reserve blocks only to skip them")]
    pub fn reserve(&self, count: u64) -> (u64, u64) {
        if count > 0 {
            RESERVATION_COUNT.set(RESERVATION_COUNT.get().wrapping_add(1));
        }
        replay::reserve_or_replay(count, || {
            let mut position = lock_ignoring_poison(&self.0.position);
            let StreamPosition { seed, next_block } = *position;
            position.next_block = next_block.wrapping_add(count);
            (seed, next_block)
        })
    }

    /// Returns how often this thread has reserved blocks of any generator. A difference around a call shows whether the call drew random
    /// numbers, independently of other threads.
    ///
    /// ```
    /// use dispatch_runtime::{Device, Generator};
    /// let before = Generator::reservation_count();
    /// Generator::default_for(Device::CPU).reserve(8);
    /// assert_eq!(Generator::reservation_count(), before + 1);
    /// ```
    #[must_use]
    pub fn reservation_count() -> u64 {
        RESERVATION_COUNT.get()
    }

    /// Creates a generator with a separate stream, which depends on this generator's seed and position. This generator advances by one
    /// block, so that the next fork is different.
    ///
    /// ```
    /// use dispatch_runtime::{Device, Generator};
    /// let (a, b) = (Generator::new(Device::CPU, 1), Generator::new(Device::CPU, 1));
    /// let (first, second) = (a.fork(), a.fork());
    /// assert_ne!(first.seed(), second.seed());
    /// assert_eq!(b.fork().seed(), first.seed());
    /// ```
    #[must_use]
    pub fn fork(&self) -> Self {
        let (seed, next) = self.reserve(1);
        #[expect(clippy::cast_possible_truncation, reason = "each half is one word of the counter")]
        let [low, high, ..] = philox(seed, [next as u32, (next >> 32) as u32, FORK_WORD, 0]);
        Self::new(self.0.device, u64::from(high) << 32 | u64::from(low))
    }

    /// Returns the key that this generator adds to a call: its backend's.
    #[must_use]
    pub fn keys(&self) -> KeySet {
        KeySet::from_bits(layer_bit(DENSE) | 1 << self.0.device.backend_index())
    }
}

/// Locks a mutex and ignores poisoning. No code that can panic runs under these locks, so the state is always valid.
fn lock_ignoring_poison<T>(state: &Mutex<T>) -> MutexGuard<'_, T> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Generator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Generator(seed {} on {})", self.seed(), self.0.device)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_reserve_different_blocks() {
        let generator = Generator::new(Device::CPU, 3);
        let mut starts: Vec<u64> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..4).map(|_| scope.spawn(|| (0..100).map(|_| generator.reserve(3).1).collect::<Vec<_>>())).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        starts.sort_unstable();
        assert!(starts.iter().copied().eq((0..400).map(|i| 3 * i)));
    }

    #[test]
    fn clones_share_the_position_and_forks_do_not() {
        let generator = Generator::new(Device::CPU, 5);
        let (clone, fork) = (generator.clone(), generator.fork());
        clone.reserve(10);
        assert_eq!((generator.position(), fork.position()), (11, 0));
    }
}
