//! Elementwise functions of one operand: signs, rounding, exponentials, logarithms, trigonometric functions and others.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Spec};

use crate::{add, add_scalar, arange_start_step, check_call_count, copy_, sum_dim_intlist, unsqueeze};

/// `-self`
#[op_def("neg(Tensor self) -> Tensor", operator = Neg, shape = pointwise, dtypes(all), check = check_negation(this), inplace, out = "out")]
pub fn neg(_: ...) -> Result<Tensor>;

/// Returns `self` itself; refuses boolean tensors
#[op_def("positive(Tensor(a) self) -> Tensor(a)")]
pub fn positive(this: &Tensor) -> Result<Tensor> {
    if this.dtype() == DType::Bool {
        return Err(BadArgument::dtype("self", DType::Bool, DTypes::Numeric).into());
    }
    Ok(this.clone())
}

/// The absolute value
#[op_def("abs(Tensor self) -> Tensor", shape = pointwise, dtype = real, dtypes(all), float8, inplace, out = "out")]
pub fn abs(_: ...) -> Result<Tensor>;

/// The sign: -1, 0 or 1
#[op_def("sign(Tensor self) -> Tensor", shape = pointwise, dtypes(floating, integral), inplace, out = "out")]
pub fn sign(_: ...) -> Result<Tensor>;

/// The sign: -1, 0 or 1; for complex numbers, `self / |self|`, or 0
#[op_def("sgn(Tensor self) -> Tensor", shape = pointwise, dtypes(all), inplace, out = "out")]
pub fn sgn(_: ...) -> Result<Tensor>;

/// The largest integer that is not above the element
#[op_def("floor(Tensor self) -> Tensor", shape = pointwise, dtypes(floating, integral), inplace, out = "out")]
pub fn floor(_: ...) -> Result<Tensor>;

/// The smallest integer that is not below the element
#[op_def("ceil(Tensor self) -> Tensor", shape = pointwise, dtypes(floating, integral), inplace, out = "out")]
pub fn ceil(_: ...) -> Result<Tensor>;

/// The integer part: rounding towards zero
#[op_def("trunc(Tensor self) -> Tensor", shape = pointwise, dtypes(floating, integral), inplace, out = "out")]
pub fn trunc(_: ...) -> Result<Tensor>;

/// The nearest integer; of two equally near integers, the even one
#[op_def("round(Tensor self) -> Tensor", shape = pointwise, dtypes(floating, integral), inplace, out = "out")]
pub fn round(_: ...) -> Result<Tensor>;

/// The fractional part: `self - trunc(self)`
#[op_def("frac(Tensor self) -> Tensor", shape = pointwise, dtypes(floating), inplace, out = "out")]
pub fn frac(_: ...) -> Result<Tensor>;

/// The nearest number with `decimals` decimal places
#[op_def("round.decimals(Tensor self, *, int decimals) -> Tensor", shape = pointwise, dtypes(floating), inplace, out = "decimals_out")]
pub fn round_decimals(_: ...) -> Result<Tensor>;

/// `self`, with NaN and infinities replaced by numbers
#[op_def("nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor", shape = pointwise, dtypes(all), inplace, out = "out")]
pub fn nan_to_num(_: ...) -> Result<Tensor>;

/// The mantissa, from 0.5 to 1, and the exponent: `self` is `mantissa * 2^exponent`
#[op_def("frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent)", plan, out = "Tensor_out")]
pub fn frexp(_: ...) -> Result<(Tensor, Tensor)>;

#[op_plan(frexp)]
fn frexp_plan(this: &Tensor) -> Result<Plan<(), 2>, BadArgument> {
    if !this.dtype().is_floating() {
        return Err(BadArgument::dtype("self", this.dtype(), DTypes::Floating));
    }
    Ok(Plan::new((), [Spec::like(this, this.dtype()), Spec::like(this, DType::I32)]))
}

/// Refuses to negate a boolean tensor.
///
/// # Errors
///
/// Returns [`BadArgument`] if `this` is boolean.
pub fn check_negation(this: &Tensor) -> Result<()> {
    if this.dtype() == DType::Bool {
        return Err(BadArgument::dtype("self", DType::Bool, DTypes::Numeric)
            .because("booleans use `logical_not` instead")
            .into());
    }
    Ok(())
}

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

/// `e^self - 1`, accurate near zero
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

/// `log(1 + self)`, accurate near zero
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

/// `1 - erf(self)`, accurate for large `self`
#[op_def("erfc(Tensor self) -> Tensor", shape = pointwise, dtype = float, dtypes(floating), inplace, out = "out")]
pub fn erfc(_: ...) -> Result<Tensor>;

/// The inverse of the error function
#[op_def("erfinv(Tensor self) -> Tensor", shape = pointwise, dtype = float, dtypes(floating), inplace, out = "out")]
pub fn erfinv(_: ...) -> Result<Tensor>;

/// The logarithm of the absolute value of the gamma function
#[op_def("lgamma(Tensor self) -> Tensor", shape = pointwise, dtype = float, dtypes(floating), inplace, out = "out")]
pub fn lgamma(_: ...) -> Result<Tensor>;

/// The digamma function: the derivative of `lgamma`
#[op_def("digamma(Tensor self) -> Tensor", shape = pointwise, dtype = float, dtypes(floating), inplace, out = "out")]
pub fn digamma(_: ...) -> Result<Tensor>;

/// The derivative of order `n` of [`digamma`](fn@crate::digamma)
#[op_def("polygamma(int n, Tensor self) -> Tensor", shape = pointwise(this), dtype = float, dtypes(floating), check = check_polygamma_order(n), out = "out")]
pub fn polygamma(_: ...) -> Result<Tensor>;

/// Refuses a negative order `n` of [`polygamma`].
fn check_polygamma_order(n: i64) -> Result<(), BadArgument> {
    if n < 0 { Err(BadArgument::number("n", n, 0..)) } else { Ok(()) }
}

/// [`polygamma`], in place
#[op_def("polygamma_(Tensor(a!) self, int n) -> Tensor(a!)")]
pub fn polygamma_(this: &mut Tensor, n: i64) -> Result<()> {
    let derivatives = polygamma(n, this)?;
    copy_(this, &derivatives, false)
}

/// The logarithm of the multivariate gamma function of dimension `p`
#[op_def("mvlgamma(Tensor self, int p) -> Tensor", out = "out")]
pub fn mvlgamma(this: &Tensor, p: i64) -> Result<Tensor> {
    // The sum has `p` terms.
    check_call_count("p", p)?;
    #[expect(clippy::cast_precision_loss, reason = "a count up to 2^24 is exact")]
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

/// Converts degrees to radians
#[op_def("deg2rad(Tensor self) -> Tensor", shape = pointwise, dtype = float, dtypes(floating), inplace, out = "out")]
pub fn deg2rad(_: ...) -> Result<Tensor>;

/// Converts radians to degrees
#[op_def("rad2deg(Tensor self) -> Tensor", shape = pointwise, dtype = float, dtypes(floating), inplace, out = "out")]
pub fn rad2deg(_: ...) -> Result<Tensor>;

/// `log(self / (1 - self))`, with `self` clamped to `[eps, 1 - eps]` first if `eps` is given
#[op_def("logit(Tensor self, float? eps=None) -> Tensor", shape = pointwise, dtype = float, dtypes(floating), inplace, out = "out")]
pub fn logit(_: ...) -> Result<Tensor>;
