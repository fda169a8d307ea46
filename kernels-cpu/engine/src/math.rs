//! Elementary functions that the compiler can vectorise.
//!
//! [`Real`] is straight-line arithmetic without branches, tables or calls. So a loop over one of its hot functions is vectorised once it is
//! compiled for a wide instruction set, which [`vectorised`](vectorised()) selects at run time. Results do not depend on that choice. Sums
//! of products are fused: in one instruction if the machine has it, otherwise by the library's correctly rounded function, which is slow
//! but rounds alike.
//!
//! On a concrete type the standard library's methods take precedence over a trait's: write `Real::exp(x)`, not `x.exp()`.

pub mod complex;
mod double_precision;
mod error_function;
mod exponential;
mod float;
mod hyperbolic;
mod inverse_trigonometric;
mod logarithm;
mod power;
pub mod special;
mod trigonometric;
#[cfg(test)]
mod ulp_error;
mod vectorised;

use double_precision::GammaAndErfinv;
pub use double_precision::zeta;
use error_function::ErrorFunction;
use hyperbolic::Hyperbolic;
use inverse_trigonometric::InverseTrigonometric;
use power::Power;
use trigonometric::{TrigonometricAnyRange, TrigonometricLimited};
pub use vectorised::vectorised;
pub(crate) use vectorised::vectorised_loop;

pub use crate::inlined::vectorised;

/// Applies a trigonometric function to a block: `limited`, its vectorised form, if every element allows it, otherwise `exact`.
///
/// All elements are checked before the first is computed, so a block should fit a cache.
///
/// ```
/// use kernels_cpu::math::{Real, map_trigonometric};
///
/// let mut block = [0.0, 1e300];
/// map_trigonometric(&mut block, Real::sin_limited, Real::sin);
/// assert_eq!(block, [0.0, 1e300_f64.sin()]);
/// ```
#[inline(always)]
pub fn map_trigonometric<T: Real>(block: &mut [T], limited: impl Fn(T) -> T, exact: impl Fn(T) -> T) {
    let limit = T::from_f64(trigonometric::MAX_LIMITED_ARGUMENT);
    let far = block.iter().fold(false, |far, x| far | (x.magnitude() >= limit));
    if far {
        for x in block {
            *x = exact(*x);
        }
    } else {
        vectorised(
            #[inline(always)]
            || block.iter_mut().for_each(|x| *x = limited(*x)),
        );
    }
}

macro_rules! define_real {
    ($($(#[$doc:meta])* $name:ident($($arg:ident),*) = $path:path;)+) => {
        /// A real number that elementwise operators compute with: `f32` or `f64`.
        ///
        /// ```
        /// use kernels_cpu::math::Real;
        ///
        /// fn softplus<T: Real>(x: T) -> T {
        ///     x.exp().log1p()
        /// }
        /// assert!((softplus(0.0_f64) - std::f64::consts::LN_2).abs() < 1e-15);
        /// ```
        #[expect(private_bounds, reason = "the formulas are written for these two types and no others")]
        pub trait Real: float::Float {
            $($(#[$doc])* #[must_use] fn $name(self, $($arg: Self),*) -> Self;)+
        }

        impl Real for f32 {
            $(#[inline(always)] fn $name(self, $($arg: Self),*) -> Self { $path(self, $($arg),*) })+
        }

        impl Real for f64 {
            $(#[inline(always)] fn $name(self, $($arg: Self),*) -> Self { $path(self, $($arg),*) })+
        }
    };
}

define_real! {
    /// `e^self`
    exp() = exponential::exp;
    /// [`exp`](Self::exp) of a value that is not positive; zero if the result may be denormal.
    exp_or_zero() = exponential::exp_or_zero;
    /// `2^self`
    exp2() = exponential::exp2;
    /// `e^self - 1`, exact near zero.
    expm1() = exponential::expm1;
    /// The natural logarithm.
    log() = logarithm::log;
    /// The logarithm to base two; exact for powers of two.
    log2() = logarithm::log2;
    /// The logarithm to base ten.
    log10() = logarithm::log10;
    /// `ln(1 + self)`, exact near zero.
    log1p() = logarithm::log1p;
    /// The logistic function `1 / (1 + e^-self)`.
    sigmoid() = hyperbolic::sigmoid;
    /// The hyperbolic sine.
    sinh() = hyperbolic::sinh;
    /// The hyperbolic cosine.
    cosh() = hyperbolic::cosh;
    /// The hyperbolic tangent.
    tanh() = Hyperbolic::tanh;
    /// The inverse of [`sinh`](Self::sinh).
    asinh() = hyperbolic::asinh;
    /// The inverse of [`cosh`](Self::cosh), NaN below one.
    acosh() = hyperbolic::acosh;
    /// The inverse of [`tanh`](Self::tanh), NaN beyond one.
    atanh() = hyperbolic::atanh;
    /// The error function.
    erf() = ErrorFunction::erf;
    /// `1 - erf(self)`, without the loss of digits that the subtraction would have for large arguments.
    erfc() = ErrorFunction::erfc;
    /// `e^(self^2) erfc(self)`, one element at a time.
    erfcx() = ErrorFunction::erfcx;
    /// `self` times the cumulative distribution function of the normal distribution at `self`.
    gelu() = ErrorFunction::gelu;
    /// The sine of any argument. Its branch prevents vectorisation of a loop: see [`map_trigonometric`].
    sin() = TrigonometricAnyRange::sin;
    /// The cosine of any argument. Its branch prevents vectorisation of a loop: see [`map_trigonometric`].
    cos() = TrigonometricAnyRange::cos;
    /// The tangent of any argument. Its branch prevents vectorisation of a loop: see [`map_trigonometric`].
    tan() = TrigonometricAnyRange::tan;
    /// The sine of an argument up to 2^20.
    sin_limited() = TrigonometricLimited::sin_limited;
    /// The cosine of an argument up to 2^20.
    cos_limited() = TrigonometricLimited::cos_limited;
    /// The tangent of an argument up to 2^20.
    tan_limited() = TrigonometricLimited::tan_limited;
    /// The inverse of [`sin`](Self::sin), NaN beyond one.
    asin() = InverseTrigonometric::asin;
    /// The inverse of [`cos`](Self::cos), NaN beyond one.
    acos() = InverseTrigonometric::acos;
    /// The inverse of [`tan`](Self::tan).
    atan() = InverseTrigonometric::atan;
    /// The angle of the point `(x, self)`.
    atan2(x) = InverseTrigonometric::atan2;
    /// `self` to a power. A loop over it is vectorised in `f32` only.
    pow(exponent) = Power::pow;
    /// `sqrt(self^2 + other^2)`, without intermediate overflow.
    hypot(other) = Power::hypot;
    /// The exact remainder with the sign of `self`, one element at a time. Its time depends on the quotient.
    fmod(divisor) = power::fmod;
    /// The exact remainder with the sign of the divisor, one element at a time. Its time depends on the quotient.
    remainder(divisor) = power::remainder;
    /// `sqrt(self)`
    sqrt() = Self::sqrt;
    /// `1 / sqrt(self)`
    rsqrt() = float::reciprocal_square_root;
    /// `1 / self`
    reciprocal() = Self::recip;
    /// The absolute value.
    abs() = Self::abs;
    /// The magnitude of `self` with the sign of another number.
    copysign(sign) = Self::copysign;
    /// The largest integer that is not greater than `self`.
    floor() = Self::floor;
    /// The smallest integer that is not less than `self`.
    ceil() = Self::ceil;
    /// The integer part.
    trunc() = Self::trunc;
    /// The nearest integer; ties to even.
    round() = Self::round_ties_even;
    /// The inverse of [`erf`](Self::erf), one element at a time.
    erfinv() = GammaAndErfinv::erfinv;
    /// The logarithm of the magnitude of the gamma function, one element at a time.
    lgamma() = GammaAndErfinv::lgamma;
    /// The derivative of [`lgamma`](Self::lgamma), one element at a time.
    digamma() = GammaAndErfinv::digamma;
    /// The derivative of [`digamma`](Self::digamma) of an integer order, one element at a time.
    polygamma(order) = GammaAndErfinv::polygamma;
}
