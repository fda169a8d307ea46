//! Kernels of functions of one operand: signs, rounding, exponentials, logarithms, trigonometric functions and others.

use std::f64::consts::{LN_2, PI};

use dispatch_runtime::{Complex32, Complex64, DType, Element, Floating, Promotion, Result, Tensor, bf16, f16, op_impl};

use crate::special::compute_in_f64;
use engine::compute::{ComputeType, Divide, Ordered, RealFloat, narrow_complex, widen_complex};
use engine::elementwise::{LoopReceiver, Loops, compute_with_promotion, elementwise, loops};
use engine::inlined::inlined;
use engine::math::{Real, complex};

elementwise! {
    neg [few] => cheap negated;
    sign [few] => |[x]| Ordered::signum(x);
    sgn => |[x]| x.sgn();
    floor => |[x]| x.round_down();
    ceil => |[x]| x.round_up();
    trunc => |[x]| x.round_to_zero();
    round => |[x]| x.round_to_nearest();
    frac => |[x]| x - Real::trunc(x);
    abs => by { abs_loops() };
    round_decimals => by { round_loops(decimals) };
    nan_to_num => by { nan_to_num_loops(this.dtype(), nan, posinf, neginf) };
}

fn abs_loops() -> impl Fn(DType, &mut LoopReceiver<'_, 1>) -> Result<(), &'static [DType]> {
    |dtype, loop_input: &mut LoopReceiver<'_, 1>| match dtype {
        DType::C64 | DType::C128 => loops!([Complex32 Complex64] |[z]| Real::hypot(z.re, z.im))(dtype, loop_input),
        _ => loops!([f32 f64 i32 i64] cheap magnitude)(dtype, loop_input),
    }
}

trait Sgn: ComputeType {
    fn sgn(self) -> Self;
}

inlined! {
    impl Sgn for f32, f64, i64 {
        fn sgn(self) -> Self = Ordered::signum(self);
    }
}

impl Sgn for Complex64 {
    fn sgn(self) -> Self {
        let length = self.norm();
        if length == 0.0 { Self::new(0.0, 0.0) } else { self / length }
    }
}

impl Sgn for Complex32 {
    fn sgn(self) -> Self {
        narrow_complex(widen_complex(self).sgn())
    }
}

/// Rounding to an integer; integers stay as they are.
trait Round {
    fn round_down(self) -> Self;
    fn round_up(self) -> Self;
    fn round_to_zero(self) -> Self;
    fn round_to_nearest(self) -> Self;
}

inlined! {
    impl Round for i64 {
        fn round_down(self) -> Self = self;
        fn round_up(self) -> Self = self;
        fn round_to_zero(self) -> Self = self;
        fn round_to_nearest(self) -> Self = self;
    }

    impl Round for f32, f64 {
        fn round_down(self) -> Self = Real::floor(self);
        fn round_up(self) -> Self = Real::ceil(self);
        fn round_to_zero(self) -> Self = Real::trunc(self);
        fn round_to_nearest(self) -> Self = Real::round(self);
    }
}

fn round_loops(decimals: i64) -> impl Fn(DType, &mut LoopReceiver<'_, 1>) -> Result<(), &'static [DType]> {
    let places = i32::try_from(decimals.unsigned_abs()).unwrap_or(i32::MAX);
    let (scale, is_left) = (10_f64.powi(places), decimals < 0);
    loops!([f32 f64] |[x]| round_to_decimals(x, scale, is_left))
}

#[inline(always)]
fn round_to_decimals<T: RealFloat>(x: T, scale: f64, is_left: bool) -> T {
    let scale = T::from_f64(scale);
    if is_left { Real::round(x / scale) * scale } else { Real::round(x * scale) / scale }
}

#[op_impl(aten::frexp, CPU)]
fn frexp(_plan: &(), [mantissa, exponent]: [&mut Tensor; 2], this: &Tensor) -> Result<()> {
    let either = |loops: Loops<'_, 1>| compute_with_promotion::<aten::frexp, _>(Promotion::Common, [this], loops);
    aten::copy_(mantissa, &either(&loops!([f32 f64] |[x]| compute_in_f64(x, |x| mantissa_and_exponent(x).0)))?, false)?;
    aten::copy_(exponent, &either(&loops!([f32 f64] |[x]| compute_in_f64(x, |x| mantissa_and_exponent(x).1)))?, false)
}

/// Returns a mantissa of magnitude 0.5 to 1, and its exponent. Zero, infinities and NaN are returned unchanged, with the exponent 0.
fn mantissa_and_exponent(x: f64) -> (f64, f64) {
    if !x.is_finite() {
        return (x, 0.0);
    }
    let (mantissa, exponent) = libm::frexp(x);
    (mantissa, exponent.into())
}

/// Replacement of NaN and infinities.
trait NonfiniteReplacement: ComputeType {
    fn replace_nonfinite(self, nan: f64, above: Option<f64>, below: Option<f64>) -> Self;
}

inlined! {
    impl NonfiniteReplacement for i64 {
        fn replace_nonfinite(self, _nan: f64, _above: Option<f64>, _below: Option<f64>) -> Self = self;
    }

    impl NonfiniteReplacement for f32, f64 {
        fn replace_nonfinite(self, nan: f64, above: Option<f64>, below: Option<f64>) -> Self = if RealFloat::is_nan(self) {
            Floating::from_f64(nan)
        } else if self == Self::INFINITY {
            above.map_or(Self::MAX, Floating::from_f64)
        } else if self == Self::NEG_INFINITY {
            below.map_or(Self::MIN, Floating::from_f64)
        } else {
            self
        };
    }

    impl NonfiniteReplacement for Complex32, Complex64 {
        fn replace_nonfinite(self, nan: f64, above: Option<f64>, below: Option<f64>) -> Self =
            Self::new(self.re.replace_nonfinite(nan, above, below), self.im.replace_nonfinite(nan, above, below));
    }
}

fn nan_to_num_loops(
    dtype: DType,
    nan: Option<f64>,
    above: Option<f64>,
    below: Option<f64>,
) -> impl Fn(DType, &mut LoopReceiver<'_, 1>) -> Result<(), &'static [DType]> {
    // A 16-bit float is computed in `f32`, but its limits are those of its own dtype.
    let largest = match dtype {
        DType::F16 => Some(f16::MAX.to_f64()),
        DType::BF16 => Some(bf16::MAX.to_f64()),
        _ => None,
    };
    let (above, below) = (above.or(largest), below.or_else(|| largest.map(|largest| -largest)));
    loops!([f32 f64 i64 Complex32 Complex64] |[x]| x.replace_nonfinite(nan.unwrap_or(0.0), above, below))
}

/// Makes the loop of a function of real and of complex numbers.
macro_rules! float_or_complex_loops {
    ($real:expr, $complex:expr $(, cheap $cheap:ident)?) => {
        |dtype, loop_input: &mut LoopReceiver<'_, 1>| match dtype {
            DType::C64 | DType::C128 => {
                apply_complex_function(dtype, loop_input, $complex);
                Ok(())
            }
            _ => float_or_complex_loops!(@real $real $(, $cheap)?)(dtype, loop_input).map_err(|_| FLOAT_AND_COMPLEX_DTYPES),
        }
    };
    (@real $real:expr) => { loops!([f32 f64] |[x]| $real(x)) };
    (@real $real:expr, $cheap:ident) => { loops!([f32 f64] cheap $cheap) };
}

const FLOAT_AND_COMPLEX_DTYPES: &[DType] = &[DType::F32, DType::F64, DType::C64, DType::C128];

/// Applies a function of complex numbers to every element. All such functions share this loop, because each element is a function call in
/// any case.
fn apply_complex_function(dtype: DType, loop_input: &mut LoopReceiver<'_, 1>, f: fn(Complex64) -> Complex64) {
    if dtype == Complex32::DTYPE {
        loop_input.run(move |[x]: [Complex32; 1]| narrow_complex(f(widen_complex(x))));
    } else {
        loop_input.run(move |[x]: [Complex64; 1]| f(x));
    }
}

elementwise! {
    sqrt => by { float_or_complex_loops!(Real::sqrt, complex::sqrt, cheap sqrt) };
    rsqrt => by { float_or_complex_loops!(Real::rsqrt, |x| Complex64::ONE.divide(complex::sqrt(x))) };
    reciprocal => by { float_or_complex_loops!(Real::reciprocal, |x| Complex64::ONE.divide(x), cheap reciprocal) };
    exp => by { float_or_complex_loops!(Real::exp, complex::exp) };
    exp2 => by { float_or_complex_loops!(Real::exp2, |x| complex::exp(x * LN_2)) };
    expm1 => by { float_or_complex_loops!(Real::expm1, complex::expm1) };
    log => by { float_or_complex_loops!(Real::log, complex::log) };
    log2 => by { float_or_complex_loops!(Real::log2, complex::log2) };
    log10 => by { float_or_complex_loops!(Real::log10, complex::log10) };
    log1p => by { float_or_complex_loops!(Real::log1p, complex::log1p) };
    sin => by { float_or_complex_loops!(Real::sin, complex::sin) };
    cos => by { float_or_complex_loops!(Real::cos, complex::cos) };
    tan => by { float_or_complex_loops!(Real::tan, complex::tan) };
    asin => by { float_or_complex_loops!(Real::asin, complex::asin) };
    acos => by { float_or_complex_loops!(Real::acos, complex::acos) };
    atan => by { float_or_complex_loops!(Real::atan, complex::atan) };
    sinh => by { float_or_complex_loops!(Real::sinh, complex::sinh) };
    cosh => by { float_or_complex_loops!(Real::cosh, complex::cosh) };
    tanh => by { float_or_complex_loops!(Real::tanh, complex::tanh) };
    asinh => by { float_or_complex_loops!(Real::asinh, complex::asinh) };
    acosh => by { float_or_complex_loops!(Real::acosh, complex::acosh) };
    atanh => by { float_or_complex_loops!(Real::atanh, complex::atanh) };
    sigmoid => by { float_or_complex_loops!(Real::sigmoid, |x| Complex64::ONE.divide(Complex64::ONE + complex::exp(-x))) };
    silu => by { float_or_complex_loops!(silu_element, |x| x.divide(Complex64::ONE + complex::exp(-x))) };
    sinc => by { float_or_complex_loops!(sinc_element, |x| if x == Complex64::ZERO { Complex64::ONE } else { complex::sin(x * PI).divide(x * PI) }) };
    erf => |[x]| Real::erf(x);
    erfc => |[x]| Real::erfc(x);
    erfinv => |[x]| Real::erfinv(x);
    lgamma => |[x]| Real::lgamma(x);
    digamma => |[x]| Real::digamma(x);
    deg2rad => |[x]| multiply_by_f64(x, PI / 180.0);
    rad2deg => |[x]| multiply_by_f64(x, 180.0 / PI);
    logit => by { logit_loops(eps) };
    polygamma => by { polygamma_loops(n) };
}

fn polygamma_loops(order: i64) -> impl Fn(DType, &mut LoopReceiver<'_, 1>) -> Result<(), &'static [DType]> {
    #[expect(clippy::cast_precision_loss, reason = "the result overflows for orders above 170")]
    let order = order as f64;
    loops!([f32 f64] |[x]| Real::polygamma(x, Floating::from_f64(order)))
}

#[inline(always)]
fn multiply_by_f64<T: RealFloat>(x: T, by: f64) -> T {
    x * T::from_f64(by)
}

#[inline(always)]
fn silu_element<T: RealFloat>(x: T) -> T {
    x * Real::sigmoid(x)
}

#[inline(always)]
fn sinc_element<T: RealFloat>(x: T) -> T {
    let turn = x * T::from_f64(PI);
    if x == T::from_f64(0.0) { T::from_f64(1.0) } else { Real::sin(turn) / turn }
}

fn logit_loops(eps: Option<f64>) -> impl Fn(DType, &mut LoopReceiver<'_, 1>) -> Result<(), &'static [DType]> {
    // Without `eps`, an element outside the domain is not clamped, so its result is NaN.
    let (low, high) = eps.map_or((f64::NEG_INFINITY, f64::INFINITY), |eps| (eps, 1.0 - eps));
    loops!([f32 f64] |[x]| logit_element(x, Floating::from_f64(low), Floating::from_f64(high)))
}

#[inline(always)]
fn logit_element<T: RealFloat>(x: T, low: T, high: T) -> T {
    // If `eps` is more than a half, the lower bound is above the upper one, and takes precedence.
    let x = if x < low { low } else { x.at_most(high) };
    Real::log(x / (T::from_f64(1.0) - x))
}
