//! Exponential functions, computed as `e^x = 2^n e^r` with `|r| <= ln(2)/2`.
//!
//! The exponent bits of `e^r` are increased by `n - 1`, and a final multiplication by two does the rest: so only the multiplication can
//! overflow. If the result may be denormal, a larger power is added, and the final multiplication rounds.

use super::float::{Float, polynomial};

pub(super) trait Exponential: Float {
    /// `ln(2)` in two terms. The first ends with enough zero bits for `n LN2_HIGH` to be exact.
    const LN2_HIGH: Self;
    const LN2_LOW: Self;
    /// `e^x` is zero below `UNDERFLOW_LIMIT` and infinite above `OVERFLOW_LIMIT`.
    const UNDERFLOW_LIMIT: Self;
    const OVERFLOW_LIMIT: Self;
    /// The argument below which `e^x` may be denormal.
    const DENORMAL_LIMIT: Self;
    /// The exponent of a power of two by which every denormal becomes normal.
    const DENORMAL_SHIFT: Self;

    /// Returns `(e^r - 1 - r) / r^2` for a reduced argument.
    fn exp_remainder_term(r: Self) -> Self;
}

impl Exponential for f32 {
    const LN2_HIGH: Self = 0.693_359_4;
    const LN2_LOW: Self = -2.121_944_4e-4;
    const UNDERFLOW_LIMIT: Self = -105.0;
    const OVERFLOW_LIMIT: Self = 89.0;
    const DENORMAL_LIMIT: Self = -86.0;
    const DENORMAL_SHIFT: Self = 32.0;

    #[inline(always)]
    fn exp_remainder_term(r: Self) -> Self {
        polynomial!(r; 0.5, 0.166_665_45, 0.041_666_288, 8.366_407e-3, 1.394_619_5e-3)
    }
}

impl Exponential for f64 {
    const LN2_HIGH: Self = Self::from_bits(0x3fe6_2e42_fee0_0000);
    const LN2_LOW: Self = 1.908_214_929_270_587_7e-10;
    const UNDERFLOW_LIMIT: Self = -746.0;
    const OVERFLOW_LIMIT: Self = 710.0;
    const DENORMAL_LIMIT: Self = -707.0;
    const DENORMAL_SHIFT: Self = 64.0;

    #[inline(always)]
    fn exp_remainder_term(r: Self) -> Self {
        polynomial!(
            r;
            0.500_000_000_000_000_4,
            0.166_666_666_666_666_85,
            0.041_666_666_666_581_45,
            0.008_333_333_333_315_433,
            0.001_388_888_893_039_687_6,
            0.000_198_412_699_014_032_4,
            2.480_150_639_701_34e-5,
            2.755_722_924_369_472e-6,
            2.762_566_983_728_847e-7,
            2.511_411_138_903_368_8e-8,
        )
    }
}

#[inline(always)]
pub(super) fn exp<T: Exponential>(x: T) -> T {
    exp_below_overflow(x.at_most(T::OVERFLOW_LIMIT))
}

/// Computes [`exp`] of `x <= OVERFLOW_LIMIT`, without the check for overflow.
#[inline(always)]
pub(super) fn exp_below_overflow<T: Exponential>(x: T) -> T {
    let x = x.at_least(T::UNDERFLOW_LIMIT);
    let (shifted, r) = reduce_argument(x, T::from_f64(1.0));
    twice_exp_of_parts(x, r, shifted, x < T::DENORMAL_LIMIT)
}

/// Computes [`exp`] of a value that is not positive; zero if the result may be denormal.
#[inline(always)]
pub(super) fn exp_or_zero<T: Exponential>(x: T) -> T {
    let (shifted, r) = reduce_argument(x, T::from_f64(0.0));
    let value = (r * r).mul_add(T::exp_remainder_term(r), r + T::from_f64(1.0)).times_power_of_two(shifted);
    // The power of two destroys the bits of a NaN.
    if x < T::DENORMAL_LIMIT { T::from_f64(0.0) } else { value + x * T::from_f64(0.0) }
}

/// Computes [`exp`] if neither the result nor an intermediate power leaves the normal numbers. The result for NaN is arbitrary.
#[inline(always)]
pub(super) fn exp_in_normal_range<T: Exponential>(x: T) -> T {
    let (shifted, r) = reduce_argument(x, T::from_f64(0.0));
    (r * r).mul_add(T::exp_remainder_term(r), r + T::from_f64(1.0)).times_power_of_two(shifted)
}

/// Computes `2^x` to 22 bits. That is enough for a value that is subtracted from a several times larger number. The result for NaN is
/// arbitrary.
#[inline(always)]
pub(super) fn approximate_exp2(x: f32) -> f32 {
    let shifted = x + f32::ROUNDING_SHIFT;
    let r = x - (shifted - f32::ROUNDING_SHIFT);
    let rest = polynomial!(r; std::f32::consts::LN_2, 0.240_222_44, 0.055_507_045, 0.009_671_435, 0.001_327_232_2);
    r.mul_add(rest, 1.0).times_power_of_two(shifted)
}

/// Computes `e^x / 2`, which may be finite if `e^x` is not.
#[inline(always)]
pub(super) fn half_exp<T: Exponential>(x: T) -> T {
    let x = x.at_least(T::UNDERFLOW_LIMIT).at_most(T::OVERFLOW_LIMIT + T::from_f64(std::f64::consts::LN_2));
    let (shifted, r) = reduce_argument(x, T::from_f64(2.0));
    twice_exp_of_parts(x, r, shifted, x < T::DENORMAL_LIMIT + T::from_f64(1.0))
}

#[inline(always)]
pub(super) fn exp2<T: Exponential>(x: T) -> T {
    let limit = T::from_f64(std::f64::consts::LOG2_E);
    let x = x.at_least(T::UNDERFLOW_LIMIT * limit).at_most(T::OVERFLOW_LIMIT * limit);
    let shift = T::ROUNDING_SHIFT - T::from_f64(1.0);
    let shifted = x + shift;
    twice_exp_of_parts(
        x,
        (x - (shifted - shift)) * T::from_f64(std::f64::consts::LN_2),
        shifted,
        x < T::DENORMAL_LIMIT * limit,
    )
}

#[inline(always)]
pub(super) fn expm1<T: Exponential>(x: T) -> T {
    // e^-40 is negligible against one in either type.
    expm1_below_overflow(x.at_least(T::from_f64(-40.0)).at_most(T::OVERFLOW_LIMIT))
}

/// Computes [`expm1`] for `-40 <= x <= OVERFLOW_LIMIT`, without the checks of its limits.
#[inline(always)]
pub(super) fn expm1_below_overflow<T: Exponential>(x: T) -> T {
    let (shifted, r) = reduce_argument(x, T::from_f64(0.0));
    let near = (r * r).mul_add(T::exp_remainder_term(r), r);
    // Half of 2^n is finite for the largest n. It and its difference from a half are exact whenever they affect the result.
    let half = T::from_f64(0.5).times_power_of_two(shifted);
    let result = T::from_f64(2.0) * half.mul_add(near, half - T::from_f64(0.5));
    // Halving would lose the last bit of a denormal, and adding would lose the sign of zero.
    if x.magnitude() < T::EPSILON * T::from_f64(0.5) { x } else { result }
}

/// Returns `n - below + ROUNDING_SHIFT`, whose low bits are the integer `n - below`, and `r`.
#[inline(always)]
fn reduce_argument<T: Exponential>(x: T, below: T) -> (T, T) {
    let shift = T::ROUNDING_SHIFT - below;
    let shifted = x.mul_add(T::from_f64(std::f64::consts::LOG2_E), shift);
    let n = shifted - shift;
    (shifted, n.mul_add(-T::LN2_LOW, n.mul_add(-T::LN2_HIGH, x)))
}

/// Returns `2^(n + 1) e^r`; NaN if `x` is NaN, whose bits the power of two would destroy.
#[inline(always)]
fn twice_exp_of_parts<T: Exponential>(x: T, r: T, shifted: T, tiny: bool) -> T {
    let value = (r * r).mul_add(T::exp_remainder_term(r), r + T::from_f64(1.0));
    let shifted = if tiny { shifted + T::DENORMAL_SHIFT } else { shifted };
    let factor = if tiny { T::from_f64(2.0) * (-T::DENORMAL_SHIFT).exp2_of_integer() } else { T::from_f64(2.0) };
    value.times_power_of_two(shifted).mul_add(factor, x * T::from_f64(0.0))
}

#[cfg(test)]
mod tests {
    use crate::math::Real;
    use crate::math::ulp_error::check_ulp_error;

    #[test]
    fn exponentials_are_accurate_to_two_ulps() {
        check_ulp_error::<f32>((-110.0, 90.0), 1.5, Real::exp, f64::exp);
        check_ulp_error::<f64>((-750.0, 711.0), 2.0, Real::exp, f64::exp);
        check_ulp_error::<f32>((-155.0, 130.0), 1.5, Real::exp2, f64::exp2);
        check_ulp_error::<f64>((-1080.0, 1025.0), 2.0, Real::exp2, f64::exp2);
    }

    #[test]
    fn exp_or_zero_underflows_to_zero_and_propagates_nan() {
        for x in (0..85 * 64).map(|i: u16| -f32::from(i) / 64.0) {
            let (ours, exact) = (f64::from(Real::exp_or_zero(x)), f64::from(x).exp());
            assert!((ours - exact).abs() < 1.5 * f64::from(f32::EPSILON) * exact, "{ours} for {exact} at {x}");
            assert!((Real::exp_or_zero(f64::from(x)) - exact).abs() < 2.0 * f64::EPSILON * exact, "at {x}");
        }
        for none in [f32::NEG_INFINITY, f32::MIN, -90.0] {
            assert_eq!(Real::exp_or_zero(none).to_bits(), 0);
        }
        assert!(Real::exp_or_zero(f32::from_bits(0x7fc0_1234)).is_nan());
        assert!(Real::exp_or_zero(f32::NAN).is_nan());
    }

    #[test]
    fn expm1_is_accurate_near_zero() {
        for range in [(-2.0, 2.0), (-1e-4, 1e-4), (-50.0, 90.0)] {
            check_ulp_error::<f32>(range, 2.0, Real::expm1, f64::exp_m1);
            check_ulp_error::<f64>(range, 4.0, Real::expm1, f64::exp_m1);
        }
    }
}
