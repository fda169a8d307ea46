//! Logarithms, computed as `ln(2^e m) = e ln(2) + ln(m)` with `m` around one.

use super::float::{Float, polynomial};

pub(super) trait Logarithm: Float {
    /// The exponent of a power of two by which every denormal becomes normal.
    const DENORMAL_SHIFT: f64;
    /// `log10(2)` with enough zeros at its end for `e LOG10_2_HIGH` to be exact.
    const LOG10_2_HIGH: f64;

    /// Returns `e ln(2) + ln(1 + f)` for an exponent `e` and `sqrt(1/2) - 1 <= f < sqrt(2) - 1`.
    fn log_of_parts(e: Self, f: Self) -> Self;
}

impl Logarithm for f32 {
    const DENORMAL_SHIFT: f64 = 32.0;
    const LOG10_2_HIGH: f64 = 0.301_025_390_625;

    #[inline(always)]
    fn log_of_parts(e: Self, f: Self) -> Self {
        let square = f * f;
        let rest = polynomial!(
            f;
            0.333_333_3,
            -0.250_008_2,
            0.200_012_4,
            -0.166_234_05,
            0.142_016_25,
            -0.131_597_31,
            0.127_619_07,
            -0.076_356_34,
        );
        let low = e.mul_add(-2.121_944_4e-4, f * square * rest);
        e.mul_add(0.693_359_4, f + square.mul_add(-0.5, low))
    }
}

impl Logarithm for f64 {
    const DENORMAL_SHIFT: Self = 64.0;
    const LOG10_2_HIGH: Self = Self::from_bits(0x3fd3_4413_5080_0000);

    /// With `s = f / (2 + f)`, `ln(1 + f)` is `2 s` plus a short series in `s^2`, and `2 s` is `f - s f`. The terms subtracted from `f` are
    /// arranged so that the largest, `f^2 / 2`, is rounded once.
    #[inline(always)]
    fn log_of_parts(e: Self, f: Self) -> Self {
        let s = f / (2.0 + f);
        let z = s * s;
        let series = z * polynomial!(
            z;
            0.666_666_666_666_666_6,
            0.400_000_000_000_056_37,
            0.285_714_285_692_390_93,
            0.222_222_226_278_410_93,
            0.181_817_769_522_470_36,
            0.153_870_419_218_116_7,
            0.132_510_905_187_063_7,
            0.132_434_161_590_943_84,
        );
        let half_square = 0.5 * f * f;
        let low = s.mul_add(half_square + series, 1.908_214_929_270_587_7e-10 * e);
        e.mul_add(Self::from_bits(0x3fe6_2e42_fee0_0000), f - (half_square - low))
    }
}

#[inline(always)]
pub(super) fn log<T: Logarithm>(x: T) -> T {
    let (e, f) = split_exponent(x);
    log_with_special_cases(x, T::log_of_parts(e, f))
}

#[inline(always)]
pub(super) fn log2<T: Logarithm>(x: T) -> T {
    let (e, f) = split_exponent(x);
    log_with_special_cases(x, e + T::log_of_parts(T::from_f64(0.0), f) * T::from_f64(std::f64::consts::LOG2_E))
}

#[inline(always)]
pub(super) fn log10<T: Logarithm>(x: T) -> T {
    let (e, f) = split_exponent(x);
    let low = e * T::from_f64(std::f64::consts::LOG10_2 - T::LOG10_2_HIGH);
    let near = low + T::log_of_parts(T::from_f64(0.0), f) * T::from_f64(std::f64::consts::LOG10_E);
    log_with_special_cases(x, e * T::from_f64(T::LOG10_2_HIGH) + near)
}

#[inline(always)]
pub(super) fn log1p<T: Logarithm>(x: T) -> T {
    let one = T::from_f64(1.0);
    let sum = one + x;
    // The exact rounding error of the sum; its relative size is its effect on the logarithm.
    let taken = sum - x;
    let lost = (x - (sum - taken)) + (one - taken);
    let result = log(sum) + lost / sum;
    // The formula fails for infinity (the error is NaN) and for minus one (a division by zero). Zero keeps its sign.
    let result = if sum > T::from_f64(0.0) && x < T::INFINITY { result } else { log(sum) };
    if x == T::from_f64(0.0) { x } else { result }
}

#[inline(always)]
fn split_exponent<T: Logarithm>(x: T) -> (T, T) {
    let denormal = x < T::MIN_POSITIVE;
    let lift = T::from_f64(T::DENORMAL_SHIFT);
    let (e, m) = (if denormal { x * lift.exp2_of_integer() } else { x }).exponent_and_mantissa();
    (if denormal { e - lift } else { e }, m - T::from_f64(1.0))
}

#[inline(always)]
fn log_with_special_cases<T: Float>(x: T, result: T) -> T {
    let result = if x < T::INFINITY { result } else { x };
    let below = if x == T::from_f64(0.0) { -T::INFINITY } else { T::NAN };
    if x > T::from_f64(0.0) { result } else { below }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "these results are exact")]
mod tests {
    use crate::math::Real;
    use crate::math::ulp_error::check_ulp_error;

    #[test]
    fn logarithms_are_accurate_to_three_ulps() {
        for range in [(0.0, 3.0), (0.99, 1.01), (0.0, 1e9)] {
            check_ulp_error::<f32>(range, 1.5, Real::log, f64::ln);
            check_ulp_error::<f64>(range, 2.0, Real::log, f64::ln);
            check_ulp_error::<f32>(range, 2.0, Real::log2, f64::log2);
            check_ulp_error::<f64>(range, 3.0, Real::log2, f64::log2);
            check_ulp_error::<f32>(range, 2.0, Real::log10, f64::log10);
            check_ulp_error::<f64>(range, 3.0, Real::log10, f64::log10);
        }
    }

    #[test]
    fn log1p_is_accurate_near_zero() {
        for range in [(-1.0, 1.0), (-1e-3, 1e-3), (-1.0, 1e4)] {
            check_ulp_error::<f32>(range, 2.0, Real::log1p, f64::ln_1p);
            check_ulp_error::<f64>(range, 3.0, Real::log1p, f64::ln_1p);
        }
    }

    #[test]
    fn logarithms_of_powers_are_exact() {
        for power in -1074..1024 {
            assert_eq!(Real::log2(libm::scalbn(1.0_f64, power)), f64::from(power));
        }
        for power in 0..22 {
            assert_eq!(Real::log10(10_f64.powi(power)), f64::from(power));
        }
    }
}
