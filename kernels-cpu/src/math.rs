//! Elementary functions that the compiler can vectorise.
//!
//! [`Real`] is straight-line arithmetic: no branches, tables or calls, so that a loop over any of its hot functions
//! becomes packed instructions once it is compiled for a wide instruction set, which [`vectorised`] does at run time.
//! Results do not depend on that choice: no operation is fused, so every machine rounds alike.
//!
//! On a concrete type the standard library's methods win over a trait's: write `Real::exp(x)`, not `x.exp()`.

mod error_function;
mod exponential;
mod float;
mod hyperbolic;
mod logarithm;
#[cfg(test)]
mod testing;

use error_function::ErrorFunction;
use pulp::Arch;

/// Runs `work` compiled for the widest instruction set of this machine.
///
/// What is to be wide must be inlined into `work`: a function that it calls keeps the instructions it was compiled
/// with. Write the loop in the closure itself, and mark the closure `#[inline(always)]` where it is long.
///
/// ```
/// use kernels_cpu::math::{Real, vectorised};
///
/// let mut values = [0.0_f32, 1.0, 2.0];
/// vectorised(|| values.iter_mut().for_each(|x| *x = Real::exp2(*x)));
/// assert_eq!(values, [1.0, 2.0, 4.0]);
/// ```
pub fn vectorised<R>(work: impl FnOnce() -> R) -> R {
    Arch::new().dispatch(work)
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
    tanh() = hyperbolic::tanh;
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
}
