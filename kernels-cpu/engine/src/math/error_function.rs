//! The error function and functions derived from it.
//!
//! Near zero, `erf` is an odd polynomial. Further out it is one minus a small value: in `f32` a power of two with a polynomial as exponent,
//! in `f64` the complementary function, which is `e^(-x^2)` times a slowly varying function.

use super::exponential::{approximate_exp2, exp};
use super::float::{Float, polynomial};

pub(super) trait ErrorFunction: Float {
    fn erf(self) -> Self;
    fn erfc(self) -> Self;
    /// Returns `e^(self^2)` times [`erfc`](Self::erfc).
    fn erfcx(self) -> Self;
    /// Returns `self` times the cumulative distribution function of the normal distribution at `self`.
    fn gelu(self) -> Self;
}

impl ErrorFunction for f32 {
    #[inline(always)]
    fn erf(self) -> Self {
        let a = self.abs();
        let z = a * a;
        let near = a.mul_add(
            polynomial!(z; 0.128_379_17, -0.376_125_9, 0.112_828_65, -0.026_807_288, 0.005_057_703_7, -0.000_634_851_87),
            a,
        );
        // From 3.93 on the result rounds to one.
        let power = polynomial!(
            a.at_most(3.93);
            -0.000_165_418_47,
            -1.627_382_6,
            -0.918_421_3,
            -0.150_687_43,
            0.032_430_73,
            -0.004_482_83,
            0.000_292_198_1,
        );
        let far = 1.0 - approximate_exp2(power);
        // The polynomial is also evaluated for NaN, and returns NaN.
        (if a > 0.85 { far } else { near }).copysign(self)
    }

    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "the wider function is rounded")]
    fn erfc(self) -> Self {
        ErrorFunction::erfc(f64::from(self)) as Self
    }

    #[expect(clippy::cast_possible_truncation, reason = "the wider function is rounded")]
    fn erfcx(self) -> Self {
        ErrorFunction::erfcx(f64::from(self)) as Self
    }

    /// Computes `max(self, 0) - a * tail(a)` with `a = |self|` and the upper tail of the normal distribution. The tail is a power of two
    /// whose exponent is `-a^2/2`, in binary, plus a slowly varying function. That takes fewer steps than [`erf`](Self::erf). The relative
    /// error is below 5e-7 from -1 on, and the absolute error below 1e-7 elsewhere.
    #[inline(always)]
    fn gelu(self) -> Self {
        // At 12.8 the power is still a normal number, and the tail no longer affects the result.
        let a = self.abs().at_most(12.8);
        let slow = polynomial!(
            a.at_most(5.0);
            -1.0,
            -1.151_110_2,
            0.262_186_65,
            -0.052_645_374,
            0.007_282_141_6,
            -0.000_305_110_7,
            -0.000_116_510_24,
            0.000_024_719_1,
            -0.000_001_611_194_3,
        );
        let beyond = approximate_exp2((a * (0.5 * std::f32::consts::LOG2_E)).mul_add(-a, slow));
        // `self * 0.0` is zero, and NaN for NaN and for minus infinity, where the formula is undefined.
        beyond.mul_add(-a, if self > 0.0 { self } else { self * 0.0 })
    }
}

impl ErrorFunction for f64 {
    #[inline(always)]
    fn erf(self) -> Self {
        let a = self.abs();
        let far = 1.0 - erfc_above_half(a.at_most(6.0).at_least(0.5));
        let result = if a > 0.5 { far } else { erf_near_zero(a) };
        // NaN fails every comparison, so it passes through the polynomial.
        result.copysign(self)
    }

    #[inline(always)]
    fn erfc(self) -> Self {
        let a = self.abs();
        let far = erfc_above_half(a.at_most(28.0).at_least(0.5));
        let far = if self < 0.0 { 2.0 - far } else { far };
        let near = 1.0 - erf_near_zero(a).copysign(self);
        if a > 0.5 { far } else { near }
    }

    fn erfcx(self) -> Self {
        let a = self.abs();
        if a <= 0.5 {
            return (a * a).exp() * ErrorFunction::erfc(self);
        }
        let above = if a <= 28.0 {
            erfcx_above_half(a)
        } else {
            let u = 0.5 / (a * a);
            (1.0 - u * (1.0 - u * (3.0 - u * (15.0 - u * (105.0 - u * (945.0 - u * 10_395.0))))))
                / (a * std::f64::consts::PI.sqrt())
        };
        if self < 0.0 { 2.0 * (a * a).exp() - above } else { above }
    }

    #[inline(always)]
    fn gelu(self) -> Self {
        0.5 * self * (1.0 + ErrorFunction::erf(self * std::f64::consts::FRAC_1_SQRT_2))
    }
}

/// Returns `erf(a)` for `a` up to a half.
#[inline(always)]
fn erf_near_zero(a: f64) -> f64 {
    let z = a * a;
    a.mul_add(
        polynomial!(
            z;
            0.128_379_167_095_512_6,
            -0.376_126_389_031_837_5,
            0.112_837_916_709_548_71,
            -0.026_866_170_645_000_43,
            0.005_223_977_622_031_529,
            -0.000_854_832_651_240_953_8,
            0.000_120_552_863_162_729_64,
            -1.492_300_786_608_858_5e-5,
            1.637_133_077_008_763_4e-6,
            -1.462_176_957_280_174_8e-7,
        ),
        a,
    )
}

/// Returns `erfc(a)` for `a` from a half to 28.
///
/// The square in the exponent is split into two terms, because its rounding error would be multiplied by up to 700.
#[inline(always)]
fn erfc_above_half(a: f64) -> f64 {
    let slow = erfcx_above_half(a);
    let high = f64::from_bits(a.to_bits() & !0x07ff_ffff);
    let low = (a - high) * (a + high);
    exp(-high * high) * (slow * low).mul_add(polynomial!(low; -1.0, 0.5, -1.0 / 6.0), slow)
}

/// Returns `e^(a^2) erfc(a)` for `a` from a half to 28. Times `a + 3`, it is a polynomial in `(a - 3) / (a + 3)`.
#[inline(always)]
fn erfcx_above_half(a: f64) -> f64 {
    let u = 1.0 / (a + 3.0);
    let t = (a - 3.0) * u;
    // The first terms are added last, so that the sum has the smallest rounding error.
    let rest = polynomial!(
        t;
        0.590_228_357_104_101_9,
        -0.310_467_261_900_560_45,
        0.119_527_761_287_287_18,
        -0.026_827_234_624_765_457,
        -0.001_212_416_627_091_179_1,
        0.003_034_062_006_439_091_6,
        -0.000_548_309_694_426_177_9,
        -0.000_276_777_897_894_414,
        0.000_107_561_521_502_306_72,
        3.039_846_211_153_398_8e-5,
        -1.747_083_044_708_141_2e-5,
        -4.750_283_599_377_331e-6,
        2.766_588_820_355_73e-6,
        1.001_160_178_463_740_6e-6,
        -4.112_674_297_000_769e-7,
        -2.361_953_987_222_587_1e-7,
        5.150_710_496_845_939_4e-8,
        5.168_952_139_455_574_7e-8,
        -6.005_850_297_105_4e-9,
        -7.522_109_021_011_906e-9,
        1.149_617_511_802_252_7e-9,
    );
    u * t.mul_add(t.mul_add(rest, -0.883_394_453_169_883_6), 1.074_006_907_088_339_8)
}

#[cfg(test)]
mod tests {
    use crate::math::Real;
    use crate::math::ulp_error::check_ulp_error;

    #[test]
    fn error_functions_are_accurate_to_a_few_ulps() {
        for range in [(-1.0, 1.0), (-5.0, 5.0), (-1e-3, 1e-3), (-30.0, 30.0)] {
            check_ulp_error::<f32>(range, 2.0, Real::erf, libm::erf);
            check_ulp_error::<f64>(range, 3.0, Real::erf, libm::erf);
            check_ulp_error::<f32>(range, 2.0, Real::erfc, libm::erfc);
            check_ulp_error::<f64>(range, 7.0, Real::erfc, libm::erfc);
        }
    }

    #[test]
    fn erfcx_is_accurate_where_its_formulas_change() {
        for (x, known) in [
            (0.5, 0.615_690_344_192_926),
            (28.0, 0.020_136_801_964_214_28),
            (25.0, 0.022_549_572_432_641_357),
            (800.0, 0.000_705_236_428_469_596_5),
            (-3.5, 417_962.422_445_770_35),
        ] {
            let x: f64 = x;
            for x in [x.next_down(), x, x.next_up()] {
                assert!((Real::erfcx(x) / known - 1.0).abs() < 1e-14, "{x}: {}, not {known}", Real::erfcx(x));
            }
        }
        assert_eq!(Real::erfcx(f64::INFINITY), 0.0);
        assert_eq!(Real::erfcx(f64::NEG_INFINITY), f64::INFINITY);
        assert!(Real::erfcx(f32::NAN).is_nan());
    }

    #[test]
    fn gelu_is_accurate_from_minus_13_to_6() {
        for step in -130_000_i32..=60_000 {
            #[expect(clippy::cast_precision_loss, reason = "the integers are small")]
            let x = step as f32 * 1e-4;
            let exact = 0.5 * f64::from(x) * libm::erfc(-f64::from(x) * std::f64::consts::FRAC_1_SQRT_2);
            let allowed = if x < -1.0 { 1e-7 } else { 5e-7 * exact.abs() };
            let error = (f64::from(Real::gelu(x)) - exact).abs();
            assert!(error <= allowed, "gelu({x}) is off by {error:e}");
        }
        assert!(Real::gelu(f32::NAN).is_nan());
        assert_eq!(Real::gelu(f32::INFINITY), f32::INFINITY);
        assert!(Real::gelu(f32::NEG_INFINITY).is_nan() && Real::gelu(f64::NEG_INFINITY).is_nan());
        assert_eq!(Real::gelu(f32::MAX), f32::MAX);
        assert!(Real::gelu(f32::MIN).abs() < 1e-30);
    }
}
