//! Elementwise functions of one operand that give numbers with a fraction.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes};

use crate::check_calls;
use crate::{add, add_scalar, arange_start_step, copy_, sum_dim_intlist, unsqueeze};

/// `sqrt(self)`
#[op_def("sqrt(Tensor self) -> Tensor", shape = pointwise, dtype = float, dtypes(floating, complex), inplace, out = "out")]
pub fn sqrt(_: ...) -> Result<Tensor>;

/// `1 / sqrt(self)`
#[op_def("rsqrt(Tensor self) -> Tensor", shape = pointwise, dtype = float, dtypes(floating, complex), inplace, out = "out")]
pub fn rsqrt(_: ...) -> Result<Tensor>;

/// `1 / self`
#[op_def("reciprocal(Tensor self) -> Tensor", shape = pointwise, dtype = float, dtypes(floating, complex), inplace, out = "out")]
pub fn reciprocal(_: ...) -> Result<Tensor>;

/// `e^self`
#[op_def("exp(Tensor self) -> Tensor", shape = pointwise, dtype = float, dtypes(floating, complex), inplace, out = "out")]
pub fn exp(_: ...) -> Result<Tensor>;

/// `2^self`
#[op_def("exp2(Tensor self) -> Tensor", shape = pointwise, dtype = float, dtypes(floating, complex), inplace, out = "out")]
pub fn exp2(_: ...) -> Result<Tensor>;

/// `e^self - 1`, exact near zero
#[op_def("expm1(Tensor self) -> Tensor", shape = pointwise, dtype = float, dtypes(floating, complex), inplace, out = "out")]
pub fn expm1(_: ...) -> Result<Tensor>;

/// The natural logarithm
#[op_def("log(Tensor self) -> Tensor", shape = pointwise, dtype = float, dtypes(floating, complex), inplace, out = "out")]
pub fn log(_: ...) -> Result<Tensor>;

/// The logarithm to base two
#[op_def("log2(Tensor self) -> Tensor", shape = pointwise, dtype = float, dtypes(floating, complex), inplace, out = "out")]
pub fn log2(_: ...) -> Result<Tensor>;

/// The logarithm to base ten
#[op_def("log10(Tensor self) -> Tensor", shape = pointwise, dtype = float, dtypes(floating, complex), inplace, out = "out")]
pub fn log10(_: ...) -> Result<Tensor>;

/// `log(1 + self)`, exact near zero
#[op_def("log1p(Tensor self) -> Tensor", shape = pointwise, dtype = float, dtypes(floating, complex), inplace, out = "out")]
pub fn log1p(_: ...) -> Result<Tensor>;

/// The sine
#[op_def("sin(Tensor self) -> Tensor", shape = pointwise, dtype = float, dtypes(floating, complex), inplace, out = "out")]
pub fn sin(_: ...) -> Result<Tensor>;

/// The cosine
#[op_def("cos(Tensor self) -> Tensor", shape = pointwise, dtype = float, dtypes(floating, complex), inplace, out = "out")]
pub fn cos(_: ...) -> Result<Tensor>;

/// The tangent
#[op_def("tan(Tensor self) -> Tensor", shape = pointwise, dtype = float, dtypes(floating, complex), inplace, out = "out")]
pub fn tan(_: ...) -> Result<Tensor>;

/// The inverse of the sine
#[op_def("asin(Tensor self) -> Tensor", shape = pointwise, dtype = float, dtypes(floating, complex), inplace, out = "out")]
pub fn asin(_: ...) -> Result<Tensor>;

/// The inverse of the cosine
#[op_def("acos(Tensor self) -> Tensor", shape = pointwise, dtype = float, dtypes(floating, complex), inplace, out = "out")]
pub fn acos(_: ...) -> Result<Tensor>;

/// The inverse of the tangent
#[op_def("atan(Tensor self) -> Tensor", shape = pointwise, dtype = float, dtypes(floating, complex), inplace, out = "out")]
pub fn atan(_: ...) -> Result<Tensor>;

/// The hyperbolic sine
#[op_def("sinh(Tensor self) -> Tensor", shape = pointwise, dtype = float, dtypes(floating, complex), inplace, out = "out")]
pub fn sinh(_: ...) -> Result<Tensor>;

/// The hyperbolic cosine
#[op_def("cosh(Tensor self) -> Tensor", shape = pointwise, dtype = float, dtypes(floating, complex), inplace, out = "out")]
pub fn cosh(_: ...) -> Result<Tensor>;

/// The hyperbolic tangent
#[op_def("tanh(Tensor self) -> Tensor", shape = pointwise, dtype = float, dtypes(floating, complex), inplace, out = "out")]
pub fn tanh(_: ...) -> Result<Tensor>;

/// The inverse of the hyperbolic sine
#[op_def("asinh(Tensor self) -> Tensor", shape = pointwise, dtype = float, dtypes(floating, complex), inplace, out = "out")]
pub fn asinh(_: ...) -> Result<Tensor>;

/// The inverse of the hyperbolic cosine
#[op_def("acosh(Tensor self) -> Tensor", shape = pointwise, dtype = float, dtypes(floating, complex), inplace, out = "out")]
pub fn acosh(_: ...) -> Result<Tensor>;

/// The inverse of the hyperbolic tangent
#[op_def("atanh(Tensor self) -> Tensor", shape = pointwise, dtype = float, dtypes(floating, complex), inplace, out = "out")]
pub fn atanh(_: ...) -> Result<Tensor>;

/// The error function
#[op_def("erf(Tensor self) -> Tensor", shape = pointwise, dtype = float, dtypes(floating), inplace, out = "out")]
pub fn erf(_: ...) -> Result<Tensor>;

/// `1 - erf(self)`, without its loss for large arguments
#[op_def("erfc(Tensor self) -> Tensor", shape = pointwise, dtype = float, dtypes(floating), inplace, out = "out")]
pub fn erfc(_: ...) -> Result<Tensor>;

/// The inverse of the error function
#[op_def("erfinv(Tensor self) -> Tensor", shape = pointwise, dtype = float, dtypes(floating), inplace, out = "out")]
pub fn erfinv(_: ...) -> Result<Tensor>;

/// The logarithm of the magnitude of the gamma function
#[op_def("lgamma(Tensor self) -> Tensor", shape = pointwise, dtype = float, dtypes(floating), inplace, out = "out")]
pub fn lgamma(_: ...) -> Result<Tensor>;

/// The derivative of `lgamma`
#[op_def("digamma(Tensor self) -> Tensor", shape = pointwise, dtype = float, dtypes(floating), inplace, out = "out")]
pub fn digamma(_: ...) -> Result<Tensor>;

/// The derivative of [`digamma`](fn@crate::digamma) of this order
#[op_def("polygamma(int n, Tensor self) -> Tensor", shape = pointwise(this), dtype = float, dtypes(floating), check = check_order(n), out = "out")]
pub fn polygamma(_: ...) -> Result<Tensor>;

/// There are no derivatives of an order below zero.
fn check_order(n: i64) -> Result<(), BadArgument> {
    if n < 0 { Err(BadArgument::number("n", n, 0..)) } else { Ok(()) }
}

/// [`polygamma`], in place
#[op_def("polygamma_(Tensor(a!) self, int n) -> Tensor(a!)")]
pub fn polygamma_(this: &mut Tensor, n: i64) -> Result<()> {
    let derivatives = polygamma(n, this)?;
    copy_(this, &derivatives, false)
}

/// The logarithm of the gamma function of so many variables
#[op_def("mvlgamma(Tensor self, int p) -> Tensor", out = "out")]
pub fn mvlgamma(this: &Tensor, p: i64) -> Result<Tensor> {
    // There is a term for each of them.
    check_calls("p", p)?;
    #[expect(clippy::cast_precision_loss, reason = "so few are exact")]
    let count = if p < 1 { return Err(BadArgument::number("p", p, 1..).into()) } else { p as f64 };
    let (first, half, dtype) =
        ((0.5 - 0.5 * count).into(), 0.5.into(), this.dtype().is_floating().then(|| this.dtype()));
    let shifts = arange_start_step(first, half, half, dtype, None, Some(this.device()), None)?;
    let terms = lgamma(&add(&unsqueeze(this, -1)?, &shifts, 1.into())?)?;
    let outside = 0.25 * count * (count - 1.0) * std::f64::consts::PI.ln();
    add_scalar(&sum_dim_intlist(&terms, Some(&[-1]), false, None)?, outside.into(), 1.into())
}

/// [`mvlgamma`], in place
#[op_def("mvlgamma_(Tensor(a!) self, int p) -> Tensor(a!)")]
pub fn mvlgamma_(this: &mut Tensor, p: i64) -> Result<()> {
    if !this.dtype().is_floating() {
        return Err(BadArgument::dtype("self", this.dtype(), DTypes::Floating).into());
    }
    let logarithms = mvlgamma(this, p)?;
    copy_(this, &logarithms, false)
}

/// The modified Bessel function of the first kind, of order 0
#[op_def("i0(Tensor self) -> Tensor", shape = pointwise, dtype = float, dtypes(floating), inplace, out = "out")]
pub fn i0(_: ...) -> Result<Tensor>;

/// `sin(pi self) / (pi self)`
#[op_def("sinc(Tensor self) -> Tensor", shape = pointwise, dtype = float, dtypes(floating, complex), inplace, out = "out")]
pub fn sinc(_: ...) -> Result<Tensor>;

/// `1 / (1 + e^-self)`
#[op_def("sigmoid(Tensor self) -> Tensor", shape = pointwise, dtype = float, dtypes(floating, complex), inplace, out = "out")]
pub fn sigmoid(_: ...) -> Result<Tensor>;

/// Degrees as radians
#[op_def("deg2rad(Tensor self) -> Tensor", shape = pointwise, dtype = float, dtypes(floating), inplace, out = "out")]
pub fn deg2rad(_: ...) -> Result<Tensor>;

/// Radians as degrees
#[op_def("rad2deg(Tensor self) -> Tensor", shape = pointwise, dtype = float, dtypes(floating), inplace, out = "out")]
pub fn rad2deg(_: ...) -> Result<Tensor>;

/// `log(self / (1 - self))`, of `self` kept `eps` away from 0 and 1
#[op_def("logit(Tensor self, float? eps=None) -> Tensor", shape = pointwise, dtype = float, dtypes(floating), inplace, out = "out")]
pub fn logit(_: ...) -> Result<Tensor>;
