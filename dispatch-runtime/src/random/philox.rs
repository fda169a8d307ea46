//! Philox: random words computed from a counter.

/// Computes Philox 4x32-10 (Salmon, Moraes, Dror and Shaw, 2011): four random words that depend only on the key and the counter.
///
/// ```
/// use dispatch_runtime::philox;
/// assert_eq!(philox(0, [0; 4]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
/// ```
#[must_use]
#[inline(always)]
pub const fn philox(key: u64, counter: [u32; 4]) -> [u32; 4] {
    let (mut low_key, mut high_key) = split_halves(key);
    let [mut a, mut b, mut c, mut d] = counter;
    let mut round = 0;
    while round < 10 {
        let (low_a, high_a) = split_halves(a as u64 * 0xd251_1f53);
        let (low_c, high_c) = split_halves(c as u64 * 0xcd9e_8d57);
        (a, b, c, d) = (high_c ^ b ^ low_key, low_c, high_a ^ d ^ high_key, low_a);
        low_key = low_key.wrapping_add(0x9e37_79b9);
        high_key = high_key.wrapping_add(0xbb67_ae85);
        round += 1;
    }
    [a, b, c, d]
}

#[expect(clippy::cast_possible_truncation, reason = "each cast keeps one half on purpose")]
#[inline(always)]
const fn split_halves(wide: u64) -> (u32, u32) {
    (wide as u32, (wide >> 32) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn philox_matches_the_test_vectors_of_its_authors() {
        assert_eq!(philox(u64::MAX, [u32::MAX; 4]), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
        let counter = [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344];
        let words = [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1];
        assert_eq!(philox(0x299f_31d0_a409_3822, counter), words);
    }
}
