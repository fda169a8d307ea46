//! Powers: `pow`, `float_power`, `square`, and multiplication by powers of two.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Promotion, Spec};

use super::division::pointwise_spec;
use crate::{clamp, copy_, floor, mul, mul_scalar, rsqrt, rsqrt_, rsqrt_out, sqrt, sqrt_, sqrt_out, to_dtype};

/// `self ^ exponent`
#[op_def("pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor", shape = pointwise, dtypes(all), out = "Tensor_Tensor_out")]
pub fn pow_tensor_tensor(_: ...) -> Result<Tensor>;

/// `self ^ exponent` for a scalar `exponent`
#[op_def("pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor")]
pub fn pow_tensor_scalar(this: &Tensor, exponent: Scalar) -> Result<Tensor> {
    check_exponent(this, exponent)?;
    match RootExponent::from_scalar(exponent) {
        _ if is_two(exponent) && this.dtype() != DType::Bool => mul(this, this),
        Some(RootExponent::Sqrt) => sqrt(this),
        Some(RootExponent::Rsqrt) => rsqrt(this),
        None => pow_tensor_tensor(this, &Tensor::number(exponent)),
    }
}

/// `self ^ exponent`, in place
#[op_def("pow_.Tensor(Tensor(a!) self, Tensor exponent) -> Tensor(a!)")]
pub fn pow_(_: ...) -> Result<()>;

/// `self ^ exponent` for a scalar `exponent`, in place
#[op_def("pow_.Scalar(Tensor(a!) self, Scalar exponent) -> Tensor(a!)")]
pub fn pow__scalar(this: &mut Tensor, exponent: Scalar) -> Result<()> {
    check_exponent(this, exponent)?;
    match RootExponent::from_scalar(exponent) {
        Some(RootExponent::Sqrt) => sqrt_(this),
        Some(RootExponent::Rsqrt) => rsqrt_(this),
        None => pow_(this, &Tensor::number(exponent)),
    }
}

/// Writes `self ^ exponent` for a scalar `exponent` to `out`
#[op_def("pow.Tensor_Scalar_out(Tensor self, Scalar exponent, *, Tensor(a!) out) -> Tensor(a!)")]
pub fn pow_tensor_scalar_out(this: &Tensor, exponent: Scalar, out: &mut Tensor) -> Result<()> {
    check_exponent(this, exponent)?;
    match RootExponent::from_scalar(exponent) {
        Some(RootExponent::Sqrt) => sqrt_out(this, out),
        Some(RootExponent::Rsqrt) => rsqrt_out(this, out),
        None => pow_tensor_tensor_out(this, &Tensor::number(exponent), out),
    }
}

/// Exponents that are computed as roots: 1/2 and -1/2. The results differ from `pow` for negative zero and negative infinity.
enum RootExponent {
    Sqrt,
    Rsqrt,
}

impl RootExponent {
    fn from_scalar(exponent: Scalar) -> Option<Self> {
        match exponent {
            Scalar::Float(0.5) => Some(Self::Sqrt),
            Scalar::Float(-0.5) => Some(Self::Rsqrt),
            _ => None,
        }
    }
}

/// `self ^ exponent` for a scalar `self`
#[op_def("pow.Scalar(Scalar self, Tensor exponent) -> Tensor", out = "Scalar_out", calls = pow_tensor_tensor(&Tensor::number(this), &crate::contiguous(exponent, dispatch_runtime::MemoryFormat::Contiguous)?))]
pub fn pow_scalar(_: ...) -> Result<Tensor>;

/// `self ^ 2`
#[op_def("square(Tensor self) -> Tensor", out = "out")]
pub fn square(this: &Tensor) -> Result<Tensor> {
    pow_tensor_scalar(this, 2.into())
}

/// `self ^ 2`, in place
#[op_def("square_(Tensor(a!) self) -> Tensor(a!)", calls = pow__scalar(this, 2.into()))]
pub fn square_(_: ...) -> Result<()>;

/// `self * 2^other`
#[op_def(
    "ldexp.Tensor(Tensor self, Tensor other) -> Tensor",
    out = "out",
    check = crate::check_broadcast([("self", this), ("other", other)])
)]
pub fn ldexp(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    if !other.dtype().is_integral() || !(this.dtype().is_floating() || this.dtype().is_complex()) {
        return mul(this, &pow_scalar(2.0.into(), other)?);
    }
    // An integral exponent keeps the dtype of `self`. There are two factors, because `2^other` may overflow although the product does not.
    let wide = if this.dtype().is_complex() { this.dtype() } else { DType::F64 };
    let exponent =
        clamp(&cast_to_dtype(other, DType::F64)?, Some((-MAX_LDEXP_EXPONENT).into()), Some(MAX_LDEXP_EXPONENT.into()))?;
    let half = floor(&mul_scalar(&exponent, 0.5.into())?)?;
    let power = |exponent| pow_scalar(2.0.into(), exponent);
    let product = mul(&mul(&cast_to_dtype(this, wide)?, &power(&half)?)?, &power(&(&exponent - &half)?)?)?;
    cast_to_dtype(&product, this.dtype())
}

/// The largest exponent of [`ldexp`], to which larger ones are clamped: the product of two powers of two in double precision reaches
/// `2^2046`. Larger exponents overflow for all but the smallest numbers.
const MAX_LDEXP_EXPONENT: f64 = 2046.0;

/// `self * 2^other`, in place
#[op_def("ldexp_(Tensor(a!) self, Tensor other) -> Tensor(a!)", check = crate::check_broadcast([("self", this), ("other", other)]))]
pub fn ldexp_(this: &mut Tensor, other: &Tensor) -> Result<()> {
    let product = ldexp(this, other)?;
    Spec::contiguous(product.dtype(), product.sizes()).fit_output("self", this)?;
    copy_(this, &product, false)
}

/// `self ^ exponent`, in double precision
#[op_def(
    "float_power.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor",
    out = "Tensor_Tensor_out",
    check = crate::check_broadcast([("self", this), ("exponent", exponent)])
)]
pub fn float_power_tensor_tensor(this: &Tensor, exponent: &Tensor) -> Result<Tensor> {
    let dtype = double_precision_dtype(this.dtype().is_complex() || exponent.dtype().is_complex());
    pow_tensor_tensor(&cast_to_dtype(this, dtype)?, &cast_to_dtype(exponent, dtype)?)
}

/// `self ^ exponent` for a scalar `exponent`, in double precision
#[op_def("float_power.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor", out = "Tensor_Scalar_out")]
pub fn float_power_tensor_scalar(this: &Tensor, exponent: Scalar) -> Result<Tensor> {
    let dtype = double_precision_dtype(this.dtype().is_complex() || matches!(exponent, Scalar::Complex(_)));
    pow_tensor_scalar(&cast_to_dtype(this, dtype)?, exponent)
}

/// `self ^ exponent` for a scalar `self`, in double precision
#[op_def("float_power.Scalar(Scalar self, Tensor exponent) -> Tensor", out = "Scalar_out")]
pub fn float_power_scalar(this: Scalar, exponent: &Tensor) -> Result<Tensor> {
    let dtype = double_precision_dtype(exponent.dtype().is_complex() || matches!(this, Scalar::Complex(_)));
    pow_scalar(this, &cast_to_dtype(exponent, dtype)?)
}

/// `self ^ exponent`, in double precision, in place
#[op_def("float_power_.Tensor(Tensor(a!) self, Tensor exponent) -> Tensor(a!)")]
pub fn float_power_(this: &mut Tensor, exponent: &Tensor) -> Result<()> {
    let dtype = check_double_precision(this, exponent.dtype().is_complex())?;
    pow_(this, &cast_to_dtype(exponent, dtype)?)
}

/// `self ^ exponent` for a scalar `exponent`, in double precision, in place
#[op_def("float_power_.Scalar(Tensor(a!) self, Scalar exponent) -> Tensor(a!)")]
pub fn float_power__scalar(this: &mut Tensor, exponent: Scalar) -> Result<()> {
    check_double_precision(this, matches!(exponent, Scalar::Complex(_)))?;
    pow__scalar(this, exponent)
}

fn double_precision_dtype(is_complex: bool) -> DType {
    if is_complex { DType::C128 } else { DType::F64 }
}

fn cast_to_dtype(this: &Tensor, dtype: DType) -> Result<Tensor> {
    to_dtype(this, dtype, false, false, None)
}

/// Checks that `this`, which is written in place, has the dtype of the result: `f64` or `c128`.
fn check_double_precision(this: &Tensor, is_complex: bool) -> Result<DType, BadArgument> {
    let dtype = double_precision_dtype(is_complex || this.dtype().is_complex());
    if this.dtype() == dtype { Ok(dtype) } else { Err(BadArgument::dtype("self", this.dtype(), dtype)) }
}

/// Whether the exponent is 2. The square is then computed by `mul`, which layers handle better than `pow`.
fn is_two(exponent: Scalar) -> bool {
    matches!(exponent, Scalar::Int(2)) || matches!(exponent, Scalar::Float(2.0))
}

/// Refuses a negative exponent of an integral tensor, and an exponent that an integral or half dtype cannot represent.
fn check_exponent(this: &Tensor, exponent: Scalar) -> Result<()> {
    match exponent {
        Scalar::Int(..0) if this.dtype().is_integral() => {
            Err(BadArgument::number("exponent", exponent, 0..).because("`self` is integral").into())
        }
        Scalar::Int(_) if this.dtype().is_integral() => Ok(exponent.check_fits("exponent", this.dtype())?),
        _ if matches!(this.dtype(), DType::F16 | DType::BF16) => Ok(exponent.check_fits("exponent", this.dtype())?),
        _ => Ok(()),
    }
}

#[op_meta(pow_)]
fn pow_in_place_meta(this: &mut Tensor, exponent: &Tensor) -> Result<()> {
    pointwise_spec(this, exponent, "exponent", Promotion::Common)?.fit_output("self", this)
}
