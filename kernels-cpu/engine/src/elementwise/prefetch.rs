//! Prefetching of memory that the processor does not predict.
#![cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "one loop over slices of several operands"))]

/// The bytes of a cache line.
const CACHE_LINE_BYTES: usize = 64;

/// Prefetches bytes that will be read. Any address is allowed: an invalid one is ignored.
#[inline(always)]
pub fn prefetch_for_reading(start: *const u8, bytes: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    for at in (0..bytes).step_by(CACHE_LINE_BYTES) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch is a hint, and any address is allowed.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(at).cast()) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = (start, bytes, CACHE_LINE_BYTES);
}

/// Prefetches bytes that will be written. Any address is allowed: an invalid one is ignored.
#[inline(always)]
pub fn prefetch_for_writing(start: *const u8, bytes: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    for at in (0..bytes).step_by(CACHE_LINE_BYTES) {
        use std::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
        // SAFETY: a prefetch is a hint, and any address is allowed.
        unsafe { _mm_prefetch::<_MM_HINT_ET0>(start.wrapping_add(at).cast()) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = (start, bytes);
}
