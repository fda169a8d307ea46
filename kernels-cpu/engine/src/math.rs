//! Elementary functions that the compiler can vectorise.
//!
//! [`Real`] is straight-line arithmetic: no branches, tables or calls, so that a loop over any of its hot functions
//! becomes packed instructions once it is compiled for a wide instruction set, which [`vectorised`](vectorised()) does at run time.
//! Results do not depend on that choice. Sums of products are fused, in one instruction where the machine has it and
//! by the library's correctly rounded function otherwise: slow there, but every machine rounds alike.
//!
//! On a concrete type the standard library's methods win over a trait's: write `Real::exp(x)`, not `x.exp()`.

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

use double_precision::DoublePrecision;
pub use double_precision::zeta;
use error_function::ErrorFunction;
use hyperbolic::Hyperbolic;
use inverse_trigonometric::InverseTrigonometric;
use power::Power;
use trigonometric::{Trigonometric, TrigonometricAnyRange};
pub use vectorised::vectorised;
pub(crate) use vectorised::vectorised_loop;

pub use crate::inlined::vectorised;

/// Applies a circular function to a block: `near`, its packed form, if every element allows it, `exact` otherwise.
///
/// Nothing but the block is looked at first, so blocks should fit a cache.
///
/// ```
/// use kernels_cpu::math::{Real, map_circular};
///
/// let mut block = [0.0, 1e300];
/// map_circular(&mut block, Real::sin_near, Real::sin);
/// assert_eq!(block, [0.0, 1e300_f64.sin()]);
/// ```
#[inline(always)]
pub fn map_circular<T: Real>(block: &mut [T], near: impl Fn(T) -> T, exact: impl Fn(T) -> T) {
    let limit = T::near(trigonometric::NEAR);
    let far = block.iter().fold(false, |far, x| far | (x.magnitude() >= limit));
    if far {
        for x in block {
            *x = exact(*x);
        }
    } else {
        vectorised(
            #[inline(always)]
            || block.iter_mut().for_each(|x| *x = near(*x)),
        );
    }
}

macro_rules! reals {
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

reals! {
    /// `e^self`
    exp() = exponential::exp;
    /// [`exp`](Self::exp) of what is not positive, and zero where that may be denormal.
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
    /// `1 - erf(self)`, without its loss for large arguments.
    erfc() = ErrorFunction::erfc;
    /// `e^(self^2) erfc(self)`, one element at a time.
    erfcx() = ErrorFunction::erfcx;
    /// `self` times the share of a normal distribution that is below it.
    gelu() = ErrorFunction::gelu;
    /// The sine of any argument. Its branch keeps a loop from being packed: see [`map_circular`].
    sin() = TrigonometricAnyRange::sin;
    /// The cosine of any argument; as [`sin`](Self::sin).
    cos() = TrigonometricAnyRange::cos;
    /// The tangent of any argument; as [`sin`](Self::sin).
    tan() = TrigonometricAnyRange::tan;
    /// The sine of an argument up to 2^20.
    sin_near() = Trigonometric::sin_near;
    /// The cosine of an argument up to 2^20.
    cos_near() = Trigonometric::cos_near;
    /// The tangent of an argument up to 2^20.
    tan_near() = Trigonometric::tan_near;
    /// The inverse of [`sin`](Self::sin), NaN beyond one.
    asin() = InverseTrigonometric::asin;
    /// The inverse of [`cos`](Self::cos), NaN beyond one.
    acos() = InverseTrigonometric::acos;
    /// The inverse of [`tan`](Self::tan).
    atan() = InverseTrigonometric::atan;
    /// The angle of the point `(x, self)`.
    atan2(x) = InverseTrigonometric::atan2;
    /// `self` to a power. Packed in `f32` alone.
    pow(exponent) = Power::pow;
    /// `sqrt(self^2 + other^2)`, without overflow on the way.
    hypot(other) = Power::hypot;
    /// The remainder with the sign of `self`, one element at a time: exact, so it takes as many steps as it takes.
    fmod(divisor) = power::fmod;
    /// The remainder with the sign of the divisor; as [`fmod`](Self::fmod).
    remainder(divisor) = power::remainder;
    /// `sqrt(self)`
    sqrt() = Self::sqrt;
    /// `1 / sqrt(self)`
    rsqrt() = float::reciprocal_root;
    /// `1 / self`
    reciprocal() = Self::recip;
    /// The absolute value.
    abs() = Self::abs;
    /// The magnitude of `self` with the sign of another number.
    copysign(sign) = Self::copysign;
    /// The largest integer that is not above.
    floor() = Self::floor;
    /// The smallest integer that is not below.
    ceil() = Self::ceil;
    /// The integer part.
    trunc() = Self::trunc;
    /// The nearest integer, and the even one of two.
    round() = Self::round_ties_even;
    /// The inverse of [`erf`](Self::erf), one element at a time.
    erfinv() = DoublePrecision::erfinv;
    /// The logarithm of the magnitude of the gamma function, one element at a time.
    lgamma() = DoublePrecision::lgamma;
    /// The derivative of [`lgamma`](Self::lgamma), one element at a time.
    digamma() = DoublePrecision::digamma;
    /// The derivative of [`digamma`](Self::digamma) of an order that is a whole number, one element at a time.
    polygamma(order) = DoublePrecision::polygamma;
}
