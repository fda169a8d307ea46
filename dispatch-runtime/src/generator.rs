//! Where random operators get their numbers.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::device::Device;
use crate::key::{DENSE, layer_bit};
use crate::key_set::KeySet;

/// A counter-based random number generator of one device. Cloning it shares its state.
///
/// ```
/// use dispatch_runtime::{Device, Generator};
/// let generator = Generator::new(Device::CPU, 42);
/// assert_eq!(generator.reserve(3), (42, 0));
/// assert_eq!(generator.reserve(1), (42, 3));
/// ```
#[derive(Clone)]
pub struct Generator(Arc<State>);

struct State {
    device: Device,
    seed: u64,
    used: AtomicU64,
}

impl Generator {
    /// A generator that begins at the start of the stream of `seed`.
    #[must_use]
    pub fn new(device: Device, seed: u64) -> Self {
        Self(Arc::new(State { device, seed, used: AtomicU64::new(0) }))
    }

    /// The device whose operators it feeds.
    #[must_use]
    pub fn device(&self) -> Device {
        self.0.device
    }

    /// The next `count` numbers of the stream, for the caller alone: the seed, and the position of the first.
    #[must_use]
    pub fn reserve(&self, count: u64) -> (u64, u64) {
        (self.0.seed, self.0.used.fetch_add(count, Ordering::Relaxed))
    }

    /// The key that this adds to a call: its backend's.
    #[must_use]
    pub fn keys(&self) -> KeySet {
        KeySet::from_bits(layer_bit(DENSE) | 1 << self.0.device.backend())
    }
}

impl fmt::Debug for Generator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Generator(seed {} on {})", self.0.seed, self.0.device)
    }
}
