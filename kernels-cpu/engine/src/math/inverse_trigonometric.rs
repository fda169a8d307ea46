//! Inverse trigonometric functions. In `f32`, `atan` and `atan2` are computed in `f64` and rounded.

use super::float::{Float, polynomial};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

pub(super) trait InverseTrigonometric: Float {
    fn asin(self) -> Self;
    fn acos(self) -> Self;
    fn atan(self) -> Self;
    fn atan2(self, x: Self) -> Self;
}

#[expect(clippy::cast_possible_truncation, reason = "the wider functions are rounded")]
impl InverseTrigonometric for f32 {
    /// Uses `asin(a) = pi/2 - 2 asin(sqrt((1 - a) / 2))` for arguments from a half on, as does [`acos`](InverseTrigonometric::acos).
    #[inline(always)]
    fn asin(self) -> Self {
        let a = self.abs();
        let far = std::f32::consts::FRAC_PI_2 - 2.0_f32.mul_add(half_angle_asin_f32(a), FRAC_PI_2_EXCESS);
        (if a > 0.5 { far } else { small_asin_f32(a, a * a) }).copysign(self)
    }

    #[inline(always)]
    fn acos(self) -> Self {
        let a = self.abs();
        let far = 2.0 * half_angle_asin_f32(a);
        let far = if self < 0.0 { std::f32::consts::PI - (far + 2.0 * FRAC_PI_2_EXCESS) } else { far };
        let near = std::f32::consts::FRAC_PI_2 - (small_asin_f32(self, self * self) + FRAC_PI_2_EXCESS);
        if a > 0.5 { far } else { near }
    }

    #[inline(always)]
    fn atan(self) -> Self {
        InverseTrigonometric::atan(f64::from(self)) as Self
    }

    #[inline(always)]
    fn atan2(self, x: Self) -> Self {
        InverseTrigonometric::atan2(f64::from(self), f64::from(x)) as Self
    }
}

impl InverseTrigonometric for f64 {
    /// Uses `asin(a) = pi/2 - 2 asin(sqrt((1 - a) / 2))` for arguments from a half on, as does [`acos`](InverseTrigonometric::acos).
    #[inline(always)]
    fn asin(self) -> Self {
        let a = self.abs();
        let far = FRAC_PI_2 - (2.0 * half_angle_asin(a) - FRAC_PI_2_LOW);
        (if a > 0.5 { far } else { small_asin(a, a * a) }).copysign(self)
    }

    #[inline(always)]
    fn acos(self) -> Self {
        let a = self.abs();
        let far = 2.0 * half_angle_asin(a);
        let far = if self < 0.0 { PI - (far - 2.0 * FRAC_PI_2_LOW) } else { far };
        let near = FRAC_PI_2 - (small_asin(self, self * self) - FRAC_PI_2_LOW);
        if a > 0.5 { far } else { near }
    }

    #[inline(always)]
    fn atan(self) -> Self {
        first_quadrant_angle(self.abs(), 1.0).copysign(self)
    }

    #[inline(always)]
    fn atan2(self, x: Self) -> Self {
        let (a, b) = (self.abs(), x.abs());
        let larger = if a > b { a } else { b };
        // After scaling, sums and products of the sides neither overflow nor leave the normal numbers.
        let factor = if larger > 1e300 { 1e-10 } else { 1.0 };
        let factor = if larger < 1e-250 { 1e50 } else { factor };
        let both_infinite = a.is_infinite() && b.is_infinite();
        let both_zero = larger == 0.0;
        let a = if both_infinite { 1.0 } else { a * factor };
        let b = if both_infinite || both_zero { 1.0 } else { b * factor };
        let angle = first_quadrant_angle(a, b);
        let angle = if x.is_sign_negative() { PI - (angle - 2.0 * FRAC_PI_2_LOW) } else { angle };
        let result = angle.copysign(self);
        if self.is_nan() || x.is_nan() { Self::NAN } else { result }
    }
}

/// The rounding error of `pi/2` in `f64`: the exact value minus the rounded one.
const FRAC_PI_2_LOW: f64 = 6.123_233_995_736_766e-17;

/// The rounding error of `pi/2` in `f32`: the rounded value minus the exact one.
const FRAC_PI_2_EXCESS: f32 = 4.371_139e-8;

/// Returns the angle of the point `(b, a)` in the first quadrant. The quotient is reduced below `tan(pi/8)` by rotating the point by an
/// eighth or a quarter turn.
#[inline(always)]
fn first_quadrant_angle(a: f64, b: f64) -> f64 {
    let eighth = a > b * 0.414_213_562_373_095_03;
    let quarter = a > b * 2.414_213_562_373_095;
    let over = if eighth { a - b } else { a };
    let under = if eighth { a + b } else { b };
    let over = if quarter { -b } else { over };
    let under = if quarter { a } else { under };
    let t = over / under;
    let z = t * t;
    let rest = t
        * z
        * polynomial!(
            z;
            -0.333_333_333_333_333_26,
            0.199_999_999_999_977_4,
            -0.142_857_142_853_955_96,
            0.111_111_110_885_851,
            -0.090_909_081_578_999_25,
            0.076_922_830_391_161_75,
            -0.066_662_306_524_543_32,
            0.058_770_580_413_392_975,
            -0.052_186_278_346_808_446,
            0.045_044_250_145_522_435,
            -0.033_494_199_083_607_22,
            0.015_214_650_631_548_027,
        );
    let (turned, lost) = if eighth { (FRAC_PI_4, 0.5 * FRAC_PI_2_LOW) } else { (0.0, 0.0) };
    let (turned, lost) = if quarter { (FRAC_PI_2, FRAC_PI_2_LOW) } else { (turned, lost) };
    turned + (t + (rest + lost))
}

#[inline(always)]
fn half_angle_asin_f32(a: f32) -> f32 {
    let z = 0.5 * (1.0 - a);
    small_asin_f32(z.sqrt(), z)
}

#[inline(always)]
fn small_asin_f32(s: f32, z: f32) -> f32 {
    (s * z).mul_add(polynomial!(z; 0.166_667_52, 0.074_953_1, 0.045_469_02, 0.024_185_503, 0.042_157_013), s)
}

#[inline(always)]
fn half_angle_asin(a: f64) -> f64 {
    let z = 0.5 * (1.0 - a);
    small_asin(z.sqrt(), z)
}

/// Returns `asin(s)` for `z = s^2` up to a quarter.
#[inline(always)]
fn small_asin(s: f64, z: f64) -> f64 {
    s + s
        * z
        * polynomial!(
            z;
            0.166_666_666_666_667_6,
            0.074_999_999_999_707_77,
            0.044_642_857_174_717_59,
            0.030_381_942_700_214_045,
            0.022_372_215_247_345_385,
            0.017_351_606_774_059_343,
            0.013_980_888_239_390_461,
            0.011_398_329_548_380_466,
            0.010_783_636_594_317_839,
            0.003_693_300_324_078,
            0.021_739_924_186_881_646,
            -0.021_045_622_451_596_756,
            0.032_658_008_749_360_8,
        )
}

#[cfg(test)]
mod tests {
    use crate::math::Real;
    use crate::math::ulp_error::{check_ulp_error, check_ulp_error_of_pairs};

    #[test]
    fn inverse_trigonometric_functions_are_accurate() {
        for range in [(-1.0, 1.0), (-10.0, 10.0), (-1e-3, 1e-3)] {
            check_ulp_error::<f32>(range, 2.5, Real::asin, f64::asin);
            check_ulp_error::<f64>(range, 3.0, Real::asin, f64::asin);
            check_ulp_error::<f32>(range, 2.0, Real::acos, f64::acos);
            check_ulp_error::<f64>(range, 4.0, Real::acos, f64::acos);
            check_ulp_error::<f32>(range, 1.0, Real::atan, f64::atan);
            check_ulp_error::<f64>(range, 3.0, Real::atan, f64::atan);
        }
    }

    #[test]
    fn atan2_is_accurate_in_all_quadrants() {
        check_ulp_error_of_pairs::<f32>((-2.0, 2.0), 1.0, Real::atan2, f64::atan2);
        check_ulp_error_of_pairs::<f64>((-2.0, 2.0), 3.0, Real::atan2, f64::atan2);
    }
}
