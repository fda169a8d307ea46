//! The hyperbolic functions, their inverses and the logistic function, in terms of exponentials and logarithms.

use super::exponential::{Exponential, exp_below_overflow, exp_in_normal_range, expm1, expm1_below_overflow, half_exp};
use super::float::{Float, polynomial};
use super::logarithm::{Logarithm, log1p};

pub(super) trait Hyperbolic: Exponential {
    fn tanh(self) -> Self;
}

impl Hyperbolic for f32 {
    /// The polynomial is also evaluated for NaN, and returns NaN.
    #[inline(always)]
    fn tanh(self) -> Self {
        let a = self.abs();
        let z = a * a;
        let near = (a * z)
            .mul_add(polynomial!(z; -0.333_332_8, 0.133_314_15, -0.053_737_77, 0.020_633_517, -0.005_699_398), a);
        // From 9.02 on the result rounds to one.
        let far = 1.0 - 2.0 / (1.0 + exp_in_normal_range(2.0 * a.at_most(9.02)));
        (if a > 0.625 { far } else { near }).copysign(self)
    }
}

impl Hyperbolic for f64 {
    #[inline(always)]
    fn tanh(self) -> Self {
        // From 20 on the quotient rounds to one.
        let t = expm1_below_overflow(2.0 * self.abs().at_most(20.0));
        let result = (t / (t + 2.0)).copysign(self);
        // Doubling and halving would round a denormal. NaN keeps its sign.
        if self.abs() < Self::EPSILON { self } else { result }
    }
}

#[inline(always)]
pub(super) fn sigmoid<T: Exponential>(x: T) -> T {
    // An exponential that cannot overflow preserves the denormal results of large negative arguments.
    let e = exp_below_overflow(-x.magnitude());
    (if x < T::from_f64(0.0) { e } else { T::from_f64(1.0) }) / (T::from_f64(1.0) + e)
}

#[inline(always)]
pub(super) fn sinh<T: Exponential>(x: T) -> T {
    let a = x.magnitude();
    let t = expm1(a);
    let small = T::from_f64(0.5) * (t + t / (t + T::from_f64(1.0)));
    let half = half_exp(a);
    let large = half - T::from_f64(0.25) / half;
    let result = if a < T::from_f64(1.0) { small } else { large };
    if a < T::EPSILON { x } else { result.with_sign_of(x) }
}

#[inline(always)]
pub(super) fn cosh<T: Exponential>(x: T) -> T {
    let half = half_exp(x.magnitude());
    half + T::from_f64(0.25) / half
}

#[inline(always)]
pub(super) fn asinh<T: Logarithm>(x: T) -> T {
    let a = x.magnitude();
    let one = T::from_f64(1.0);
    let near = a + a * a / (one + (a * a + one).square_root());
    log1p_or_log_of_twice(a, near).with_sign_of(x)
}

#[inline(always)]
pub(super) fn acosh<T: Logarithm>(x: T) -> T {
    let above = x - T::from_f64(1.0);
    let near = above + (above * (above + T::from_f64(2.0))).square_root();
    let result = log1p_or_log_of_twice(x, near);
    if x < T::from_f64(1.0) { T::NAN } else { result }
}

#[inline(always)]
pub(super) fn atanh<T: Logarithm>(x: T) -> T {
    let a = x.magnitude();
    let quotient = T::from_f64(2.0) * a / (T::from_f64(1.0) - a);
    let result = T::from_f64(0.5) * log1p(quotient);
    if a < T::EPSILON { x } else { result.with_sign_of(x) }
}

/// Returns `ln(1 + near)`, or `ln(2 a)` if `a` is so large that both are equal and `near` may have overflowed.
#[inline(always)]
fn log1p_or_log_of_twice<T: Logarithm>(a: T, near: T) -> T {
    let large = a > T::from_f64(1e17);
    let log = log1p(if large { a } else { near });
    if large { log + T::from_f64(std::f64::consts::LN_2) } else { log }
}

#[cfg(test)]
mod tests {
    use crate::math::Real;
    use crate::math::ulp_error::check_ulp_error;

    fn reference_sigmoid(x: f64) -> f64 {
        if x < 0.0 { x.exp() / (1.0 + x.exp()) } else { 1.0 / (1.0 + (-x).exp()) }
    }

    /// The reference function is not defined below one.
    fn reference_acosh(x: f64) -> f64 {
        if x < 1.0 { f64::NAN } else { libm::acosh(x) }
    }

    #[test]
    fn tanh_and_sigmoid_are_accurate_to_a_few_ulps() {
        for range in [(-1.0, 1.0), (-25.0, 25.0), (-1e-3, 1e-3)] {
            check_ulp_error::<f32>(range, 2.5, Real::tanh, f64::tanh);
            check_ulp_error::<f64>(range, 4.0, Real::tanh, f64::tanh);
        }
        for range in [(-110.0, 100.0), (-5.0, 5.0)] {
            check_ulp_error::<f32>(range, 2.5, Real::sigmoid, reference_sigmoid);
            check_ulp_error::<f64>(range, 3.0, Real::sigmoid, reference_sigmoid);
        }
    }

    #[test]
    fn sinh_and_cosh_are_accurate_up_to_overflow() {
        for range in [(-3.0, 3.0), (-90.0, 90.0), (-711.0, 711.0)] {
            check_ulp_error::<f32>(range, 3.0, Real::sinh, f64::sinh);
            check_ulp_error::<f64>(range, 4.0, Real::sinh, f64::sinh);
            check_ulp_error::<f32>(range, 3.0, Real::cosh, f64::cosh);
            check_ulp_error::<f64>(range, 4.0, Real::cosh, f64::cosh);
        }
    }

    #[test]
    fn inverse_hyperbolic_functions_are_accurate_on_their_domains() {
        for range in [(-1.0, 1.0), (-1e-3, 1e-3), (-1e4, 1e4)] {
            check_ulp_error::<f32>(range, 4.0, Real::asinh, libm::asinh);
            check_ulp_error::<f64>(range, 4.0, Real::asinh, libm::asinh);
            check_ulp_error::<f32>(range, 4.0, Real::atanh, libm::atanh);
            check_ulp_error::<f64>(range, 4.0, Real::atanh, libm::atanh);
        }
        for range in [(1.0, 1.001), (1.0, 3.0), (1.0, 1e4)] {
            check_ulp_error::<f32>(range, 4.0, Real::acosh, reference_acosh);
            check_ulp_error::<f64>(range, 4.0, Real::acosh, reference_acosh);
        }
    }
}
