//! The error function and what belongs to it.
//!
//! Near zero `erf` is an odd polynomial. Further out it is one minus something small: in `f32` the exponential of a
//! polynomial, in `f64` the complementary function itself, `e^(-x^2)` times a function that varies slowly.

use super::exponential::exp;
use super::float::{Float, poly};

pub(super) trait ErrorFunction: Float {
    fn erf(self) -> Self;
    fn erfc(self) -> Self;
}

impl ErrorFunction for f32 {
    #[inline(always)]
    fn erf(self) -> Self {
        let a = self.abs().at_most(4.0);
        let z = a * a;
        let near = a + a * poly!(
            z;
            0.128_379_166,
            -0.376_126_35,
            0.112_836_94,
            -0.026_859_27,
            0.005_200_634,
            -0.000_813_743_7,
            8.345_221e-5,
        );
        let far = 1.0
            - exp(poly!(
                a;
                0.000_170_552_86,
                -1.129_495_1,
                -0.633_386_6,
                -0.108_236_65,
                0.025_091_52,
                -0.004_160_537_4,
                0.000_432_305_53,
                -2.090_981e-5,
            ));
        (if a < 0.92 { near } else { far }).copysign(self)
    }

    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "the wider function is rounded")]
    fn erfc(self) -> Self {
        ErrorFunction::erfc(f64::from(self)) as Self
    }
}

impl ErrorFunction for f64 {
    #[inline(always)]
    fn erf(self) -> Self {
        let a = self.abs();
        let far = 1.0 - complement(a.at_most(6.0).at_least(0.5));
        let result = if a > 0.5 { far } else { near(a) };
        // NaN fails every comparison and has passed through the polynomial.
        result.copysign(self)
    }

    #[inline(always)]
    fn erfc(self) -> Self {
        let a = self.abs();
        let far = complement(a.at_most(28.0).at_least(0.5));
        let far = if self < 0.0 { 2.0 - far } else { far };
        let near = 1.0 - near(a).copysign(self);
        if a > 0.5 { far } else { near }
    }
}

/// `erf(a)` for `a` up to a half.
#[inline(always)]
fn near(a: f64) -> f64 {
    let z = a * a;
    a + a * poly!(
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
    )
}

/// `erfc(a)` for `a` from a half to 28.
///
/// The slow factor is `(a + 3) e^(a^2) erfc(a)`, a polynomial in `(a - 3) / (a + 3)`. The square in the exponent is
/// taken in two parts, because its rounding would be multiplied by up to 700.
#[inline(always)]
fn complement(a: f64) -> f64 {
    let u = 1.0 / (a + 3.0);
    let t = (a - 3.0) * u;
    let slow = u * poly!(
        t;
        1.0740069070883398,
        -0.8833944531698836,
        0.5902283571041019,
        -0.31046726190056045,
        0.11952776128728718,
        -0.026827234624765457,
        -0.0012124166270911791,
        0.0030340620064390916,
        -0.0005483096944261779,
        -0.000276777897894414,
        0.00010756152150230672,
        3.0398462111533988e-05,
        -1.7470830447081412e-05,
        -4.750283599377331e-06,
        2.76658882035573e-06,
        1.0011601784637406e-06,
        -4.112674297000769e-07,
        -2.3619539872225871e-07,
        5.1507104968459394e-08,
        5.1689521394555747e-08,
        -6.0058502971054e-09,
        -7.522109021011906e-09,
        1.1496175118022527e-09,
    );
    let high = f64::from_bits(a.to_bits() & !0x07ff_ffff);
    let low = (a - high) * (a + high);
    exp(-high * high) * (slow - slow * low * (1.0 - low * (0.5 - low * (1.0 / 6.0))))
}

#[cfg(test)]
mod tests {
    use crate::math::Real;
    use crate::math::testing::check;

    #[test]
    fn error_functions_are_right_to_the_last_places() {
        for range in [(-1.0, 1.0), (-5.0, 5.0), (-1e-3, 1e-3), (-30.0, 30.0)] {
            check::<f32>(range, 2.0, Real::erf, libm::erf);
            check::<f64>(range, 3.0, Real::erf, libm::erf);
            check::<f32>(range, 2.0, Real::erfc, libm::erfc);
            check::<f64>(range, 5.0, Real::erfc, libm::erfc);
        }
    }
}
