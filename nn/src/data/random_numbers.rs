//! Random numbers that depend on a seed and a position alone, and on no generator's state.

use dispatch_runtime::philox;

/// A use of random numbers. The numbers of different uses are independent.
#[derive(Clone, Copy)]
pub(super) enum Purpose {
    Order,
    Split,
    Items,
    Batches,
}

/// Returns a seed that depends on all arguments.
pub(super) fn derived_seed(seed: u64, purpose: Purpose, epoch: u64, index: usize) -> u64 {
    let of_epoch = word(seed, epoch, purpose as u32);
    word(of_epoch, index as u64, 0)
}

/// Returns the random number at a position of the stream of a seed.
#[expect(clippy::cast_possible_truncation, reason = "each half is one word of the counter")]
pub(super) fn word(seed: u64, position: u64, stream: u32) -> u64 {
    let [low, high, ..] = philox(seed, [position as u32, (position >> 32) as u32, stream, 0]);
    u64::from(high) << 32 | u64::from(low)
}

/// Returns a uniform number from 0 to 1, without 1.
#[expect(clippy::cast_precision_loss, reason = "the number has 53 bits")]
pub(super) fn uniform(seed: u64, position: u64) -> f64 {
    (word(seed, position, 0) >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
}

/// Returns the numbers below `count` in random order. The seed is a derived one.
#[expect(clippy::cast_possible_truncation, reason = "the high word of the product is at most the index")]
pub(super) fn shuffled(count: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        let product = u128::from(word(seed, last as u64, 0)) * (last as u128 + 1);
        order.swap(last, (product >> 64) as usize);
    }
    order
}
