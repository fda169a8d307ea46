//! Conversion between the 16-bit floating-point types and `f32`.
//!
//! Conversion of one element is pure arithmetic, so that the compiler vectorises a loop of it. Rows of `f16` use the F16C instructions if
//! the machine has them.

use dispatch_runtime::{bf16, f16};

#[inline(always)]
pub(super) fn bf16_to_f32(x: bf16) -> f32 {
    f32::from_bits(u32::from(x.to_bits()) << 16)
}

/// Rounds to the nearest `bf16`, ties to even.
#[inline(always)]
pub(super) fn f32_to_bf16(x: f32) -> bf16 {
    let bits = x.to_bits();
    let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
    let bits = if x.is_nan() { bits >> 16 | 0x40 } else { rounded };
    #[expect(clippy::cast_possible_truncation, reason = "the upper half is shifted down")]
    bf16::from_bits(bits as u16)
}

/// Rounds a number to `bf16` and converts it back.
#[inline(always)]
pub fn round_through_bf16(x: f32) -> f32 {
    bf16_to_f32(f32_to_bf16(x))
}

/// Rounds a number to `f16` and converts it back.
#[inline(always)]
pub fn round_through_f16(x: f32) -> f32 {
    f16_to_f32(f32_to_f16(x))
}

#[inline(always)]
pub(super) fn f16_to_f32(x: f16) -> f32 {
    let bits = u32::from(x.to_bits());
    let (sign, rest) = ((bits & 0x8000) << 16, (bits & 0x7fff) << 13);
    // The exponent biases differ by 112. The multiplication also converts subnormal numbers correctly.
    let finite = f32::from_bits(rest) * f32::from_bits((127 + 112) << 23);
    let special = f32::from_bits(rest | 0x7f80_0000);
    f32::from_bits(sign | if bits & 0x7c00 == 0x7c00 { special } else { finite }.to_bits())
}

/// Rounds to the nearest `f16`, ties to even.
#[inline(always)]
pub(super) fn f32_to_f16(x: f32) -> f16 {
    let (sign, rest) = (x.to_bits() >> 16 & 0x8000, x.to_bits() & 0x7fff_ffff);
    // A carry out of the fraction correctly increments the exponent.
    let normal = rest.wrapping_sub((112 << 23) - 0xfff - (rest >> 13 & 1)) >> 13;
    // The addition of one half aligns the last bit with that of subnormal `f16` numbers, and so rounds to it.
    let subnormal = (f32::from_bits(rest) + 0.5).to_bits().wrapping_sub(0x3f00_0000);
    let special = if x.is_nan() { 0x7e00 | rest >> 13 & 0x3ff } else { 0x7c00 };
    let finite = if rest < 113 << 23 { subnormal } else { normal };
    #[expect(clippy::cast_possible_truncation, reason = "at most sixteen bits are set")]
    f16::from_bits((sign | if rest < 143 << 23 { finite } else { special }) as u16)
}

/// Widens contiguous `f16` elements with F16C instructions. Returns `false`, without work, if the machine has none.
///
/// # Safety
///
/// `from` and `to` each point to `count` contiguous elements.
pub(super) unsafe fn try_widen_f16(from: *const f16, to: *mut f32, count: usize) -> bool {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if std::arch::is_x86_feature_detected!("f16c") {
        // SAFETY: guaranteed by the caller, and the machine has the instruction.
        unsafe { f16c::widen_f16(from, to, count) };
        return true;
    }
    let _ = (from, to, count);
    false
}

/// Narrows contiguous `f32` elements to `f16` with F16C instructions. Returns `false`, without work, if the machine has none.
///
/// # Safety
///
/// `from` and `to` each point to `count` contiguous elements.
pub(super) unsafe fn try_narrow_to_f16(from: *const f32, to: *mut f16, count: usize) -> bool {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if std::arch::is_x86_feature_detected!("f16c") {
        // SAFETY: guaranteed by the caller, and the machine has the instruction.
        unsafe { f16c::narrow_to_f16(from, to, count) };
        return true;
    }
    let _ = (from, to, count);
    false
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod f16c {
    use std::arch::x86_64::{
        _MM_FROUND_TO_NEAREST_INT, _mm_loadu_si128, _mm_storeu_si128, _mm256_cvtph_ps, _mm256_cvtps_ph,
        _mm256_loadu_ps, _mm256_storeu_ps,
    };

    use dispatch_runtime::f16;

    /// # Safety
    ///
    /// `from` and `to` each point to `count` contiguous elements.
    #[target_feature(enable = "f16c")]
    pub(super) unsafe fn widen_f16(from: *const f16, to: *mut f32, count: usize) {
        let convert_eight = |from: *const f16, to: *mut f32| {
            // SAFETY: `for_each_eight` passes pointers to eight elements.
            unsafe { _mm256_storeu_ps(to, _mm256_cvtph_ps(_mm_loadu_si128(from.cast()))) };
        };
        // SAFETY: guaranteed by the caller.
        unsafe { for_each_eight(from, to, count, f16::ZERO, 0.0, convert_eight) };
    }

    /// # Safety
    ///
    /// `from` and `to` each point to `count` contiguous elements.
    #[target_feature(enable = "f16c")]
    pub(super) unsafe fn narrow_to_f16(from: *const f32, to: *mut f16, count: usize) {
        let convert_eight = |from: *const f32, to: *mut f16| {
            // SAFETY: `for_each_eight` passes pointers to eight elements.
            unsafe { _mm_storeu_si128(to.cast(), _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm256_loadu_ps(from))) };
        };
        // SAFETY: guaranteed by the caller.
        unsafe { for_each_eight(from, to, count, 0.0, f16::ZERO, convert_eight) };
    }

    /// Calls `f` on eight elements at a time. The last, fewer than eight, go through a padded buffer.
    ///
    /// # Safety
    ///
    /// `from` and `to` each point to `count` elements.
    #[inline(always)]
    unsafe fn for_each_eight<A: Copy, B: Copy>(
        from: *const A,
        to: *mut B,
        count: usize,
        filler: A,
        zero: B,
        f: impl Fn(*const A, *mut B),
    ) {
        let whole = count - count % 8;
        for i in (0..whole).step_by(8) {
            f(from.wrapping_add(i), to.wrapping_add(i));
        }
        if whole < count {
            let (mut last, mut converted) = ([filler; 8], [zero; 8]);
            // SAFETY: guaranteed by the caller; fewer than eight are left.
            unsafe {
                from.add(whole).copy_to_nonoverlapping(last.as_mut_ptr(), count - whole);
                f(last.as_ptr(), converted.as_mut_ptr());
                to.add(whole).copy_from_nonoverlapping(converted.as_ptr(), count - whole);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_of_16_bit_floats_match_the_half_crate() {
        for bits in 0..=u16::MAX {
            let half = f16::from_bits(bits);
            assert!(
                f16_to_f32(half).to_bits() == half.to_f32().to_bits() || half.is_nan() && f16_to_f32(half).is_nan(),
                "{bits:#x}"
            );
            let brain = bf16::from_bits(bits);
            assert_eq!(f32_to_bf16(brain.to_f32()).is_nan(), brain.is_nan());
            for step in [0x1_u32, 0xfff, 0x1000, 0x1001, 0x3000, 0x7fff, 0x8000, 0x8001, 0xffff] {
                let x = f32::from_bits(u32::from(bits) << 16 | step);
                assert!(f32_to_bf16(x) == bf16::from_f32(x) || x.is_nan() && f32_to_bf16(x).is_nan(), "{x}");
                let (half, expected) = (f32_to_f16(x), f16::from_f32_const(x));
                assert!(half.to_bits() == expected.to_bits() || x.is_nan() && half.is_nan(), "{x}");
            }
        }
    }

    #[test]
    fn f16c_instructions_match_arithmetic_conversions() {
        let halves: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).collect();
        let mut floats = vec![0.0; halves.len()];
        // SAFETY: there are as many elements on either side.
        if !unsafe { try_widen_f16(halves.as_ptr(), floats.as_mut_ptr(), halves.len()) } {
            return;
        }
        for (half, float) in halves.iter().zip(&floats) {
            assert!(f16_to_f32(*half).to_bits() == float.to_bits() || half.is_nan() && float.is_nan(), "{half}");
        }
        for step in [0, 1, 0xfff, 0x1000, 0x1001, 0x1fff] {
            let floats: Vec<f32> = floats.iter().map(|float| f32::from_bits(float.to_bits() | step)).collect();
            let mut back = vec![f16::ZERO; floats.len() - 3];
            // SAFETY: the source has three elements more than are read.
            unsafe { try_narrow_to_f16(floats.as_ptr(), back.as_mut_ptr(), back.len()) };
            for (float, half) in floats.iter().zip(&back) {
                assert_eq!(f32_to_f16(*float).to_bits(), half.to_bits(), "{float}");
            }
        }
    }
}
