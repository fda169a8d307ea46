//! Elementwise functions of one operand that give numbers with a fraction.

use std::f64::consts::PI;

use dispatch_runtime::{Complex32, Complex64, DType, Element, Result, Tensor, op_impl};

use crate::compute::{Field, Fraction, narrowed_complex, widened};
use crate::elementwise::{Lanes, elementwise, forms, fresh, into, loops};
use crate::math::Real;

/// Functions of real and of complex numbers.
macro_rules! analytic {
    ($($name:ident $in_place:ident $out:ident: $real:expr, $complex:expr $(, cheap $cheap:ident)?;)*) => {$(
        const _: () = {
            #[allow(clippy::unnecessary_wraps, reason = "others look at their numbers")]
            fn loops() -> Result<impl Fn(DType, &mut Lanes<'_, 1>) -> Result<(), &'static [DType]>> {
                Ok(|dtype, lanes: &mut Lanes<'_, 1>| match dtype {
                    DType::C64 | DType::C128 => {
                        complex(dtype, lanes, $complex);
                        Ok(())
                    }
                    _ => analytic!(@real $real $(, $cheap)?)(dtype, lanes).map_err(|_| ANALYTIC),
                })
            }

            forms! { @one $name $in_place $out (this) [] loops }
        };
    )*};
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

fn one() -> Complex64 {
    Complex64::new(1.0, 0.0)
}

analytic! {
    sqrt sqrt_ sqrt_out: Real::sqrt, Complex64::sqrt, cheap root;
    rsqrt rsqrt_ rsqrt_out: Real::rsqrt, |x| one().over(x.sqrt());
    reciprocal reciprocal_ reciprocal_out: Real::reciprocal, |x| one().over(x), cheap reciprocal;
    exp exp_ exp_out: Real::exp, Complex64::exp;
    exp2 exp2_ exp2_out: Real::exp2, Complex64::exp2;
    expm1 expm1_ expm1_out: Real::expm1, |x| x.exp() - one();
    log log_ log_out: Real::log, Complex64::ln;
    log2 log2_ log2_out: Real::log2, Complex64::log2;
    log10 log10_ log10_out: Real::log10, Complex64::log10;
    log1p log1p_ log1p_out: Real::log1p, crate::complex::log1p;
    sin sin_ sin_out: Real::sin, Complex64::sin;
    cos cos_ cos_out: Real::cos, Complex64::cos;
    tan tan_ tan_out: Real::tan, Complex64::tan;
    asin asin_ asin_out: Real::asin, Complex64::asin;
    acos acos_ acos_out: Real::acos, Complex64::acos;
    atan atan_ atan_out: Real::atan, Complex64::atan;
    sinh sinh_ sinh_out: Real::sinh, Complex64::sinh;
    cosh cosh_ cosh_out: Real::cosh, Complex64::cosh;
    tanh tanh_ tanh_out: Real::tanh, Complex64::tanh;
    asinh asinh_ asinh_out: Real::asinh, Complex64::asinh;
    acosh acosh_ acosh_out: Real::acosh, Complex64::acosh;
    atanh atanh_ atanh_out: Real::atanh, Complex64::atanh;
    sigmoid sigmoid_ sigmoid_out: Real::sigmoid, |x| one().over(one() + (-x).exp());
    silu silu_ silu_out: gated, |x| x.over(one() + (-x).exp());
    sinc sinc_ sinc_out: sine_over, |x| if x == Complex64::ZERO { one() } else { (x * PI).sin().over(x * PI) };
}

elementwise! {
    erf erf_ erf_out [f32 f64] (this) => |[x]| Real::erf(x);
    erfc erfc_ erfc_out [f32 f64] (this) => |[x]| Real::erfc(x);
    erfinv erfinv_ erfinv_out [f32 f64] (this) => |[x]| Real::erfinv(x);
    lgamma lgamma_ lgamma_out [f32 f64] (this) => |[x]| Real::lgamma(x);
    digamma digamma_ digamma_out [f32 f64] (this) => |[x]| Real::digamma(x);
    deg2rad deg2rad_ deg2rad_out [f32 f64] (this) => |[x]| scaled(x, PI / 180.0);
    rad2deg rad2deg_ rad2deg_out [f32 f64] (this) => |[x]| scaled(x, 180.0 / PI);
}

forms! {
    logit logit_ logit_out (this; eps: Option<f64>) => logit_loops;
}

#[op_impl(aten::polygamma, CPU)]
fn polygamma(n: i64, this: &Tensor) -> Result<Tensor> {
    let order = aten::polygamma_order(n)?;
    fresh::<aten::polygamma, _>([this], &|dtype, lanes| derivatives(dtype, lanes, order))
}

#[op_impl(aten::polygamma_out, CPU)]
fn polygamma_out(n: i64, this: &Tensor, out: &mut Tensor) -> Result<()> {
    let order = aten::polygamma_order(n)?;
    into::<aten::polygamma, _>(out, [this], &|dtype, lanes| derivatives(dtype, lanes, order))
}

fn derivatives(dtype: DType, lanes: &mut Lanes<'_, 1>, order: f64) -> Result<(), &'static [DType]> {
    loops!([f32 f64] |[x]| Real::polygamma(x, Fraction::near(order)))(dtype, lanes)
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

#[expect(clippy::unnecessary_wraps, reason = "others look at their numbers")]
fn logit_loops(eps: Option<f64>) -> Result<impl Fn(DType, &mut Lanes<'_, 1>) -> Result<(), &'static [DType]>> {
    // What is beyond an end stays there, so that it becomes NaN.
    let (low, high) = eps.map_or((f64::NEG_INFINITY, f64::INFINITY), |eps| (eps, 1.0 - eps));
    Ok(loops!([f32 f64] |[x]| logit(x, Fraction::near(low), Fraction::near(high))))
}

#[inline(always)]
fn logit<T: Fraction>(x: T, low: T, high: T) -> T {
    // Where `eps` is more than a half, the lower bound is above the other one, and goes first.
    let x = if x < low { low } else { x.at_most(high) };
    Real::log(x / (T::near(1.0) - x))
}
