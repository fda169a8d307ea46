//! Elementwise arithmetic operators of two or more operands.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, result_dtype};

/// `self + alpha * other`
#[op_def("add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", operator = Add, shape = pointwise(this, other), dtypes(all), check = check_alpha(this, other, alpha), inplace, out = "out")]
pub fn add(_: ...) -> Result<Tensor>;

/// `self + alpha * other` for a scalar `other`
#[op_def("add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", inplace, out = "Scalar_out", calls = add(this, &Tensor::number(other), alpha))]
pub fn add_scalar(_: ...) -> Result<Tensor>;

/// `max(self + alpha * other, 0)`; the sum of integers wraps first
#[op_def("_add_relu.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", shape = pointwise, dtypes(floating, integral), check = check_add_relu(this, other, alpha), inplace, out = "out")]
pub fn _add_relu(_: ...) -> Result<Tensor>;

/// `max(self + alpha * other, 0)` for a scalar `other`
#[op_def("_add_relu.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", inplace, out = "Scalar_out", calls = _add_relu(this, &Tensor::number(other), alpha))]
pub fn _add_relu_scalar(_: ...) -> Result<Tensor>;

/// `self - alpha * other`
#[op_def("sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", operator = Sub, shape = pointwise(this, other), dtypes(all), check = check_subtraction(this, other, alpha), inplace, out = "out")]
pub fn sub(_: ...) -> Result<Tensor>;

/// `self - alpha * other` for a scalar `other`
#[op_def("sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", inplace, out = "Scalar_out", calls = sub(this, &Tensor::number(other), alpha))]
pub fn sub_scalar(_: ...) -> Result<Tensor>;

/// `other - alpha * self`
#[op_def("rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", shape = pointwise(this, other), dtypes(all), check = check_subtraction(this, other, alpha), out = "Tensor_out")]
pub fn rsub(_: ...) -> Result<Tensor>;

/// `other - alpha * self` for a scalar `other`
#[op_def("rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", out = "Scalar_out", calls = rsub(this, &Tensor::number(other), alpha))]
pub fn rsub_scalar(_: ...) -> Result<Tensor>;

/// `self * other`
#[op_def("mul.Tensor(Tensor self, Tensor other) -> Tensor", operator = Mul, shape = pointwise, dtypes(all), inplace, out = "out")]
pub fn mul(_: ...) -> Result<Tensor>;

/// `self * other` for a scalar `other`
#[op_def("mul.Scalar(Tensor self, Scalar other) -> Tensor", inplace, out = "Scalar_out", calls = mul(this, &Tensor::number(other)))]
pub fn mul_scalar(_: ...) -> Result<Tensor>;

/// `self + value * tensor1 * tensor2`
#[op_def("addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor", shape = pointwise(this, tensor1, tensor2), dtypes(all), check = crate::check_scalars_fit_compute_dtype(result_dtype([this, tensor1, tensor2]), [("value", value)]), inplace, out = "out")]
pub fn addcmul(_: ...) -> Result<Tensor>;

/// `self + value * tensor1 / tensor2`
#[op_def("addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor", shape = pointwise(this, tensor1, tensor2), dtypes(floating, complex), check = crate::check_scalars_fit_compute_dtype(result_dtype([this, tensor1, tensor2]), [("value", value)]), inplace, out = "out")]
pub fn addcdiv(_: ...) -> Result<Tensor>;

/// `self + weight * (end - self)`
#[op_def("lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor", shape = pointwise, dtypes(floating, complex), check = check_lerp(this, end, weight), inplace, out = "Tensor_out")]
pub fn lerp(_: ...) -> Result<Tensor>;

/// `self + weight * (end - self)` for a scalar `weight`
#[op_def("lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor", inplace, out = "Scalar_out", calls = lerp(this, end, &lerp_weight_tensor(this, weight)?))]
pub fn lerp_scalar(_: ...) -> Result<Tensor>;

/// `sqrt(self^2 + other^2)`, without overflow of the squares
#[op_def("hypot(Tensor self, Tensor other) -> Tensor", shape = pointwise, dtypes(floating), inplace, out = "out")]
pub fn hypot(_: ...) -> Result<Tensor>;

/// The angle of the point with the coordinates `(x, y) = (other, self)`, in radians
#[op_def("atan2(Tensor self, Tensor other) -> Tensor", shape = pointwise, dtype = float, dtypes(floating), inplace, out = "out")]
pub fn atan2(_: ...) -> Result<Tensor>;

/// `self * log(other)`, and 0 where `self` is 0
#[op_def("xlogy.Tensor(Tensor self, Tensor other) -> Tensor", shape = pointwise, dtype = float, dtypes(floating), inplace, out = "OutTensor")]
pub fn xlogy(_: ...) -> Result<Tensor>;

/// `self * log(other)` for a scalar `other`
#[op_def("xlogy.Scalar_Other(Tensor self, Scalar other) -> Tensor", inplace, out = "OutScalar_Other", calls = xlogy(this, &Tensor::number(other)))]
pub fn xlogy_scalar_other(_: ...) -> Result<Tensor>;

/// `self * log(other)` for a scalar `self`
#[op_def("xlogy.Scalar_Self(Scalar self, Tensor other) -> Tensor", out = "OutScalar_Self", calls = xlogy(&Tensor::number(this), other))]
pub fn xlogy_scalar_self(_: ...) -> Result<Tensor>;

/// The regularised lower incomplete gamma function `P(self, other)`
#[op_def("igamma(Tensor self, Tensor other) -> Tensor", shape = pointwise, dtypes(floating), inplace, out = "out")]
pub fn igamma(_: ...) -> Result<Tensor>;

/// The regularised upper incomplete gamma function `Q(self, other)`
#[op_def("igammac(Tensor self, Tensor other) -> Tensor", shape = pointwise, dtypes(floating), inplace, out = "out")]
pub fn igammac(_: ...) -> Result<Tensor>;

/// `log(e^self + e^other)`
#[op_def("logaddexp(Tensor self, Tensor other) -> Tensor", shape = pointwise, dtypes(floating, complex), out = "out")]
pub fn logaddexp(_: ...) -> Result<Tensor>;

/// `log2(2^self + 2^other)`
#[op_def("logaddexp2(Tensor self, Tensor other) -> Tensor", shape = pointwise, dtypes(floating), out = "out")]
pub fn logaddexp2(_: ...) -> Result<Tensor>;

/// The next representable number after `self` in the direction of `other`
#[op_def("nextafter(Tensor self, Tensor other) -> Tensor", shape = pointwise, dtypes(floating), inplace, out = "out")]
pub fn nextafter(_: ...) -> Result<Tensor>;

/// The magnitude of `self` with the sign of `other`
#[op_def("copysign.Tensor(Tensor self, Tensor other) -> Tensor", shape = pointwise, dtype = float, dtypes(floating), inplace, out = "out")]
pub fn copysign(_: ...) -> Result<Tensor>;

/// The magnitude of `self` with the sign of a scalar `other`
#[op_def("copysign.Scalar(Tensor self, Scalar other) -> Tensor", inplace, out = "Scalar_out", calls = copysign(this, &Tensor::number(other)))]
pub fn copysign_scalar(_: ...) -> Result<Tensor>;

/// The greatest common divisor of two elements
#[op_def("gcd(Tensor self, Tensor other) -> Tensor", shape = pointwise, dtypes(integral), check = check_not_both_bool(this, other), inplace, out = "out")]
pub fn gcd(_: ...) -> Result<Tensor>;

/// The least common multiple of two elements
#[op_def("lcm(Tensor self, Tensor other) -> Tensor", shape = pointwise, dtypes(integral), check = check_not_both_bool(this, other), inplace, out = "out")]
pub fn lcm(_: ...) -> Result<Tensor>;

/// Checks that `alpha` is of the kind of the result's dtype (for example, no float for integers) and fits into that dtype.
///
/// # Errors
///
/// Returns [`BadArgument`] if `alpha` is of another kind, or if the result's dtype cannot represent it.
pub fn check_alpha(this: &Tensor, other: &Tensor, alpha: Scalar) -> Result<()> {
    if matches!(alpha, Scalar::Int(1)) {
        return Ok(());
    }
    let dtype = check_alpha_kind(this, other, alpha)?;
    Ok(alpha.check_fits("alpha", dtype)?)
}

/// Refuses two boolean tensors.
fn check_not_both_bool(this: &Tensor, other: &Tensor) -> Result<(), BadArgument> {
    match result_dtype([this, other]) {
        DType::Bool => Err(BadArgument::dtype("self", DType::Bool, DTypes::Integral).because("`other` is bool")),
        _ => Ok(()),
    }
}

/// Checks that PyTorch's kernel supports the dtypes. It has no `bool`, no `u8`, no halves and no complex numbers.
fn check_add_relu(this: &Tensor, other: &Tensor, alpha: Scalar) -> Result<()> {
    let is_supported =
        |dtype| matches!(dtype, DType::I8 | DType::I16 | DType::I32 | DType::I64 | DType::F32 | DType::F64);
    if !is_supported(this.dtype()) {
        return Err(BadArgument::dtype(
            "self",
            this.dtype(),
            &[DType::I8, DType::I16, DType::I32, DType::I64, DType::F32, DType::F64],
        )
        .into());
    }
    if !is_supported(result_dtype([this, other])) {
        let expected = "a dtype whose sum with `self` is int8, int16, int32, int64, float32 or float64";
        return Err(BadArgument::dtype("other", other.dtype(), expected).into());
    }
    check_alpha(this, other, alpha)
}

/// Refuses boolean operands of a subtraction, and an `alpha` that does not fit the result's dtype.
///
/// # Errors
///
/// Returns [`BadArgument`] if a tensor is boolean, if `alpha` is not of the kind of the result's dtype, or if that dtype cannot represent
/// `-alpha`.
pub fn check_subtraction(this: &Tensor, other: &Tensor, alpha: Scalar) -> Result<()> {
    for (name, tensor) in [("self", this), ("other", other)] {
        if tensor.dtype() == DType::Bool {
            return Err(BadArgument::dtype(name, DType::Bool, DTypes::Numeric)
                .because("booleans use `logical_xor` instead")
                .into());
        }
    }
    if matches!(alpha, Scalar::Int(1)) {
        return Ok(());
    }
    let dtype = check_alpha_kind(this, other, alpha)?;
    // Subtraction adds `-alpha * other`, so `-alpha` must fit.
    let added = if let Scalar::Int(alpha) = alpha { alpha.wrapping_neg().into() } else { alpha };
    if added.fits(dtype) { Ok(()) } else { Err(BadArgument::overflow("alpha", alpha, dtype).into()) }
}

/// Refuses an `alpha` whose kind the result's dtype does not have, such as a float for integers. Returns that dtype.
fn check_alpha_kind(this: &Tensor, other: &Tensor, alpha: Scalar) -> Result<DType, BadArgument> {
    let dtype = result_dtype([this, other]);
    let is_of_kind = match alpha {
        Scalar::Bool(_) => dtype == DType::Bool,
        Scalar::Int(_) => true,
        Scalar::Float(_) => dtype.is_floating() || dtype.is_complex(),
        Scalar::Complex(_) => dtype.is_complex(),
    };
    if is_of_kind {
        return Ok(dtype);
    }
    Err(BadArgument::value("alpha", alpha, format!("a number of the kind of {dtype}")))
}

/// Converts the scalar weight of `lerp` to a tensor. The weight is a real number unless `this` is complex.
fn lerp_weight_tensor(this: &Tensor, weight: Scalar) -> Result<Tensor, BadArgument> {
    crate::check_scalars_fit_compute_dtype(this.dtype(), [("weight", weight)])?;
    let real = weight.to_f64().filter(|_| !this.dtype().is_complex());
    Ok(Tensor::number(real.map_or(weight, Scalar::Float)))
}

/// Checks that the tensors `end` and `weight` have the dtype of `this`.
///
/// # Errors
///
/// Returns [`BadArgument`] if `end` or `weight` has another dtype and is not a scalar.
pub fn check_lerp(this: &Tensor, end: &Tensor, weight: &Tensor) -> Result<()> {
    for (name, tensor) in [("end", end), ("weight", weight)] {
        if tensor.dtype() != this.dtype() && !tensor.is_number() {
            return Err(BadArgument::dtype(name, tensor.dtype(), this.dtype()).like("self").into());
        }
    }
    Ok(())
}
