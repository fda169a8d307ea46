//! Elementwise functions of one operand that give numbers with a fraction.

use std::f64::consts::PI;

use dispatch_runtime::{Complex32, Complex64, DType, Element, Result};

use engine::compute::{Field, Fraction, Precision, narrowed_complex, widened};
use engine::elementwise::{Lanes, elementwise, loops};
use engine::math::Real;

/// The loop of a function of real and of complex numbers.
macro_rules! analytic {
    ($real:expr, $complex:expr $(, cheap $cheap:ident)?) => {
        |dtype, lanes: &mut Lanes<'_, 1>| match dtype {
            DType::C64 | DType::C128 => {
                complex(dtype, lanes, $complex);
                Ok(())
            }
            _ => analytic!(@real $real $(, $cheap)?)(dtype, lanes).map_err(|_| ANALYTIC),
        }
    };
    (@real $real:expr) => { loops!([f32 f64] |[x]| $real(x)) };
    (@real $real:expr, $cheap:ident) => { loops!([f32 f64] cheap $cheap) };
}

const ANALYTIC: &[DType] = &[DType::F32, DType::F64, DType::C64, DType::C128];

/// One loop for all functions of complex numbers: they are calls in any case.
fn complex(dtype: DType, lanes: &mut Lanes<'_, 1>, f: fn(Complex64) -> Complex64) {
    if dtype == Complex32::DTYPE {
        lanes.run(move |[x]: [Complex32; 1]| narrowed_complex(f(widened(x))));
    } else {
        lanes.run(move |[x]: [Complex64; 1]| f(x));
    }
}

elementwise! {
    sqrt => by { analytic!(Real::sqrt, Complex64::sqrt, cheap root) };
    rsqrt => by { analytic!(Real::rsqrt, |x| Complex64::ONE.over(x.sqrt())) };
    reciprocal => by { analytic!(Real::reciprocal, |x| Complex64::ONE.over(x), cheap reciprocal) };
    exp => by { analytic!(Real::exp, Complex64::exp) };
    exp2 => by { analytic!(Real::exp2, Complex64::exp2) };
    expm1 => by { analytic!(Real::expm1, |x| x.exp() - Complex64::ONE) };
    log => by { analytic!(Real::log, Complex64::ln) };
    log2 => by { analytic!(Real::log2, Complex64::log2) };
    log10 => by { analytic!(Real::log10, Complex64::log10) };
    log1p => by { analytic!(Real::log1p, engine::math::complex::log1p) };
    sin => by { analytic!(Real::sin, Complex64::sin) };
    cos => by { analytic!(Real::cos, Complex64::cos) };
    tan => by { analytic!(Real::tan, Complex64::tan) };
    asin => by { analytic!(Real::asin, Complex64::asin) };
    acos => by { analytic!(Real::acos, Complex64::acos) };
    atan => by { analytic!(Real::atan, Complex64::atan) };
    sinh => by { analytic!(Real::sinh, Complex64::sinh) };
    cosh => by { analytic!(Real::cosh, Complex64::cosh) };
    tanh => by { analytic!(Real::tanh, Complex64::tanh) };
    asinh => by { analytic!(Real::asinh, Complex64::asinh) };
    acosh => by { analytic!(Real::acosh, Complex64::acosh) };
    atanh => by { analytic!(Real::atanh, Complex64::atanh) };
    sigmoid => by { analytic!(Real::sigmoid, |x| Complex64::ONE.over(Complex64::ONE + (-x).exp())) };
    silu => by { analytic!(gated, |x| x.over(Complex64::ONE + (-x).exp())) };
    sinc => by { analytic!(sine_over, |x| if x == Complex64::ZERO { Complex64::ONE } else { (x * PI).sin().over(x * PI) }) };
    erf => |[x]| Real::erf(x);
    erfc => |[x]| Real::erfc(x);
    erfinv => |[x]| Real::erfinv(x);
    lgamma => |[x]| Real::lgamma(x);
    digamma => |[x]| Real::digamma(x);
    deg2rad => |[x]| scaled(x, PI / 180.0);
    rad2deg => |[x]| scaled(x, 180.0 / PI);
    logit => by { logit_loops(eps) };
    polygamma => by { polygamma_loops(n) };
}

fn polygamma_loops(order: i64) -> impl Fn(DType, &mut Lanes<'_, 1>) -> Result<(), &'static [DType]> {
    #[expect(clippy::cast_precision_loss, reason = "beyond 170 there are no such numbers anyway")]
    let order = order as f64;
    loops!([f32 f64] |[x]| Real::polygamma(x, Precision::near(order)))
}

#[inline(always)]
fn scaled<T: Fraction>(x: T, by: f64) -> T {
    x * T::near(by)
}

#[inline(always)]
fn gated<T: Fraction>(x: T) -> T {
    x * Real::sigmoid(x)
}

#[inline(always)]
fn sine_over<T: Fraction>(x: T) -> T {
    let turn = x * T::near(PI);
    if x == T::near(0.0) { T::near(1.0) } else { Real::sin(turn) / turn }
}

fn logit_loops(eps: Option<f64>) -> impl Fn(DType, &mut Lanes<'_, 1>) -> Result<(), &'static [DType]> {
    // What is beyond an end stays there, so that it becomes NaN.
    let (low, high) = eps.map_or((f64::NEG_INFINITY, f64::INFINITY), |eps| (eps, 1.0 - eps));
    loops!([f32 f64] |[x]| logit(x, Precision::near(low), Precision::near(high)))
}

#[inline(always)]
fn logit<T: Fraction>(x: T, low: T, high: T) -> T {
    // Where `eps` is more than a half, the lower bound is above the other one, and goes first.
    let x = if x < low { low } else { x.at_most(high) };
    Real::log(x / (T::near(1.0) - x))
}
