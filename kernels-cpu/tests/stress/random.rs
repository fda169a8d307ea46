//! A pseudorandom number generator with a seed.

/// The state of a `SplitMix64` generator.
pub(crate) struct SplitMix64(pub(crate) u64);

impl SplitMix64 {
    fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    pub(crate) fn integer_below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end.max(1)).unwrap_or(u64::MAX);
        usize::try_from(self.next_u64() % end).unwrap_or(0)
    }

    pub(crate) fn integer_between(&mut self, least: i64, most: i64) -> i64 {
        let span = usize::try_from(most - least + 1).unwrap_or(1);
        least + i64::try_from(self.integer_below(span)).unwrap_or(0)
    }

    /// Returns `true` with probability 1 / `times`.
    pub(crate) fn true_once_in(&mut self, times: usize) -> bool {
        self.integer_below(times) == 0
    }

    pub(crate) fn choose_from<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.integer_below(choices.len())]
    }
}
