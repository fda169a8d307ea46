//! Sine, cosine and tangent, computed from the distance to the nearest multiple of a quarter turn.
//!
//! The larger the argument is, the more digits of pi that distance needs. This module has enough for arguments up to
//! [`MAX_LIMITED_ARGUMENT`], with vector instructions. Larger arguments go to the standard library, one element at a time.

use dispatch_runtime::Floating;

use super::float::{Float, polynomial};
use crate::inlined::inlined;

/// The largest argument of the vectorised forms. A multiple of a quarter turn up to here has 20 bits, so that its product with the 33 bits
/// of each term of pi is exact.
pub(super) const MAX_LIMITED_ARGUMENT: f64 = 1_048_576.0;

/// A quarter turn as a sum of three terms of 33 bits, and the rest.
const QUARTER_TURN_TERMS: [f64; 4] =
    [1.570_796_326_734_125_6, 6.077_100_506_303_966e-11, 2.022_266_248_711_166_5e-21, 8.478_427_660_368_9e-32];

pub(super) trait TrigonometricLimited: Float {
    fn sin_limited(self) -> Self;
    fn cos_limited(self) -> Self;
    fn tan_limited(self) -> Self;
}

/// Trigonometric functions of any argument.
pub(super) trait TrigonometricAnyRange: TrigonometricLimited {
    fn sin(self) -> Self;
    fn cos(self) -> Self;
    fn tan(self) -> Self;
}

inlined! {
    impl TrigonometricAnyRange for f32, f64 {
        fn sin(self) -> Self = if self.magnitude() < Self::from_f64(MAX_LIMITED_ARGUMENT) { self.sin_limited() } else { Self::sin(self) };
        fn cos(self) -> Self = if self.magnitude() < Self::from_f64(MAX_LIMITED_ARGUMENT) { self.cos_limited() } else { Self::cos(self) };
        fn tan(self) -> Self = if self.magnitude() < Self::from_f64(MAX_LIMITED_ARGUMENT) { self.tan_limited() } else { Self::tan(self) };
    }
}

impl TrigonometricLimited for f32 {
    #[inline(always)]
    fn sin_limited(self) -> Self {
        let (n, r) = reduce_argument_f32(self);
        let result = sin_after_quarter_turns_f32(n, r);
        // The reduction loses the sign of zero.
        if self == 0.0 { self } else { result }
    }

    #[inline(always)]
    fn cos_limited(self) -> Self {
        let (n, r) = reduce_argument_f32(self);
        sin_after_quarter_turns_f32(n.wrapping_add(1), r)
    }

    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "the wider function is rounded")]
    fn tan_limited(self) -> Self {
        f64::from(self).tan_limited() as Self
    }
}

impl TrigonometricLimited for f64 {
    #[inline(always)]
    fn sin_limited(self) -> Self {
        let (n, r, low) = reduce_argument(self);
        let result = sin_after_quarter_turns(n, reduced_sin(r, low), reduced_cos(r, low));
        if self == 0.0 { self } else { result }
    }

    #[inline(always)]
    fn cos_limited(self) -> Self {
        let (n, r, low) = reduce_argument(self);
        sin_after_quarter_turns(n.wrapping_add(1), reduced_sin(r, low), reduced_cos(r, low))
    }

    #[inline(always)]
    fn tan_limited(self) -> Self {
        let (n, r, low) = reduce_argument(self);
        let (sine, cosine) = (reduced_sin(r, low), reduced_cos(r, low));
        let odd = n & 1 != 0;
        let result = (if odd { -cosine } else { sine }) / (if odd { sine } else { cosine });
        if self == 0.0 { self } else { result }
    }
}

/// Returns the number of quarter turns nearest to `x`: in the low bits of the first value, and as a number.
#[inline(always)]
fn nearest_quarter_turns(x: f64) -> (u64, f64) {
    let shifted = x * std::f64::consts::FRAC_2_PI + f64::ROUNDING_SHIFT;
    (shifted.to_bits(), shifted - f64::ROUNDING_SHIFT)
}

/// Reduces in `f64`, in which two terms of pi are enough for a result that is rounded once.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "only the low bits are used, and the distance is rounded")]
fn reduce_argument_f32(x: f32) -> (u32, f32) {
    let x = f64::from(x);
    let (bits, n) = nearest_quarter_turns(x);
    (bits as u32, ((x - n * QUARTER_TURN_TERMS[0]) - n * (QUARTER_TURN_TERMS[1] + QUARTER_TURN_TERMS[2])) as f32)
}

/// Returns the sine of `r` plus `n` quarter turns.
#[inline(always)]
fn sin_after_quarter_turns_f32(n: u32, r: f32) -> f32 {
    let z = r * r;
    let sine = r + r * z * polynomial!(z; -0.166_666_55, 0.008_332_181, -0.000_195_175_45);
    let cosine = 1.0 - z * (0.5 - z * polynomial!(z; 0.041_666_646, -0.001_388_737_7, 2.443_941_6e-5));
    let result = if n & 1 == 0 { sine } else { cosine };
    f32::from_bits(result.to_bits() ^ ((n & 2) << 30))
}

/// Reduces the argument to a distance as the sum of two numbers. Every sum before the last is exact, because close to a multiple of a
/// quarter turn almost all leading bits cancel.
#[inline(always)]
fn reduce_argument(x: f64) -> (u64, f64, f64) {
    let (bits, n) = nearest_quarter_turns(x);
    let (high, first) = subtract_with_error(x - n * QUARTER_TURN_TERMS[0], n * QUARTER_TURN_TERMS[1]);
    let (high, second) = subtract_with_error(high, n * QUARTER_TURN_TERMS[2]);
    let low = (first + second) - n * QUARTER_TURN_TERMS[3];
    let r = high + low;
    (bits, r, (high - r) + low)
}

/// Returns `a - b` and its rounding error.
#[inline(always)]
fn subtract_with_error(a: f64, b: f64) -> (f64, f64) {
    let result = a - b;
    let taken = a - result;
    (result, (a - (result + taken)) + (taken - b))
}

/// Returns `sin(r + low)`.
#[inline(always)]
fn reduced_sin(r: f64, low: f64) -> f64 {
    let z = r * r;
    let cube = r
        * z
        * polynomial!(
            z;
            -0.166_666_666_666_666_32,
            0.008_333_333_333_322_552,
            -0.000_198_412_698_298_982_55,
            2.755_731_371_864_144e-6,
            -2.505_076_178_543_945_8e-8,
            1.589_698_612_387_103e-10,
        );
    r + (cube + (low - 0.5 * z * low))
}

/// Returns `cos(r + low)`.
#[inline(always)]
fn reduced_cos(r: f64, low: f64) -> f64 {
    let z = r * r;
    let fourth = z
        * z
        * polynomial!(
            z;
            0.041_666_666_666_666_616,
            -0.001_388_888_888_887_613_7,
            2.480_158_729_057_783_5e-5,
            -2.755_731_463_480_952e-7,
            2.087_575_811_864_133e-9,
            -1.136_130_586_653_717_8e-11,
        );
    let half = 0.5 * z;
    let near = 1.0 - half;
    near + (((1.0 - near) - half) + (fourth - r * low))
}

#[inline(always)]
fn sin_after_quarter_turns(n: u64, sine: f64, cosine: f64) -> f64 {
    let result = if n & 1 == 0 { sine } else { cosine };
    f64::from_bits(result.to_bits() ^ ((n & 2) << 62))
}

#[cfg(test)]
mod tests {
    use crate::math::ulp_error::check_ulp_error;
    use crate::math::{Real, map_trigonometric};

    #[test]
    fn trigonometric_functions_are_accurate_in_all_ranges() {
        for range in [(-1.0, 1.0), (-10.0, 10.0), (-1e5, 1e5), (-1.1e6, 1.1e6), (-1e-3, 1e-3)] {
            check_ulp_error::<f32>(range, 2.0, Real::sin, f64::sin);
            check_ulp_error::<f64>(range, 2.0, Real::sin, f64::sin);
            check_ulp_error::<f32>(range, 2.0, Real::cos, f64::cos);
            check_ulp_error::<f64>(range, 2.0, Real::cos, f64::cos);
            check_ulp_error::<f32>(range, 2.0, Real::tan, f64::tan);
            check_ulp_error::<f64>(range, 4.0, Real::tan, f64::tan);
        }
    }

    #[test]
    fn sin_and_cos_are_accurate_at_multiples_of_a_quarter_turn() {
        for n in 1..200_000 {
            let x = f64::from(n) * std::f64::consts::FRAC_PI_2;
            let ulps = |a: f64, b: f64| a.to_bits().abs_diff(b.to_bits());
            assert!(ulps(Real::sin(x), x.sin()) <= 2, "sin({x})");
            assert!(ulps(Real::cos(x), x.cos()) <= 2, "cos({x})");
        }
    }

    #[test]
    fn map_trigonometric_handles_blocks_with_large_elements() {
        let mut block = [0.5, 1e7, -3.0, f64::INFINITY, f64::MAX, 1e300];
        let expected = block.map(|x: f64| Real::sin(x));
        map_trigonometric(&mut block, Real::sin_limited, Real::sin);
        for (x, y) in block.into_iter().zip(expected) {
            assert!(x.to_bits() == y.to_bits() || (x.is_nan() && y.is_nan()), "{x} {y}");
        }
    }
}
