//! A seeded random number generator: the same seed and number give the same trial on every machine.

/// A stream of random words (`SplitMix64`).
pub(super) struct Random(u64);

impl Random {
    /// Creates the stream of one trial of a seed.
    pub(super) fn new(seed: u64, number: u64) -> Self {
        let mut seeded = Self(seed);
        Self(seeded.next_u64() ^ number.wrapping_mul(0xd6e8_feb8_6659_fd93))
    }

    pub(super) const fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// Draws a number below `end`, which must not be zero.
    pub(super) fn draw_below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end.max(1)).unwrap_or(u64::MAX);
        usize::try_from(self.next_u64() % end).unwrap_or(0)
    }

    /// Draws a number from `first` to `last`, both included.
    pub(super) fn draw_between(&mut self, first: i64, last: i64) -> i64 {
        let count = usize::try_from(last - first + 1).unwrap_or(1);
        first + i64::try_from(self.draw_below(count)).unwrap_or(0)
    }

    /// Returns true with a probability of `percent` %.
    pub(super) fn true_with_percent(&mut self, percent: usize) -> bool {
        self.draw_below(100) < percent
    }

    /// Draws one item of a list that is not empty.
    pub(super) fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.draw_below(from.len())].clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_and_number_give_the_same_words() {
        let words = |seed, number| {
            let mut random = Random::new(seed, number);
            [random.next_u64(), random.next_u64()]
        };
        assert_eq!(words(1, 2), words(1, 2));
        assert_ne!(words(1, 2), words(2, 1));
        assert_ne!(words(1, 2), words(1, 3));
    }

    #[test]
    fn draw_between_draws_every_number_of_the_range() {
        let mut random = Random::new(7, 0);
        let drawn: Vec<i64> = (0..200).map(|_| random.draw_between(-2, 2)).collect();
        assert!((-2..=2).all(|number| drawn.contains(&number)) && drawn.iter().all(|number| (-2..=2).contains(number)));
    }
}
