//! Signs, magnitudes, and integer parts.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Spec};

/// `-self`
#[op_def("neg(Tensor self) -> Tensor", operator = Neg, shape = pointwise, dtypes(all), check = check_negation(this), inplace, out = "out")]
pub fn neg(_: ...) -> Result<Tensor>;

/// `self`, which must be a number
#[op_def("positive(Tensor(a) self) -> Tensor(a)")]
pub fn positive(this: &Tensor) -> Result<Tensor> {
    if this.dtype() == DType::Bool {
        return Err(BadArgument::dtype("self", DType::Bool, DTypes::Numbers).into());
    }
    Ok(this.clone())
}

/// The absolute value; of a complex number, the distance from zero
#[op_def("abs(Tensor self) -> Tensor", shape = pointwise, dtype = real, dtypes(all), inplace, out = "out")]
pub fn abs(_: ...) -> Result<Tensor>;

/// -1, 0 or 1, as the sign is
#[op_def("sign(Tensor self) -> Tensor", shape = pointwise, dtypes(floating, integral), inplace, out = "out")]
pub fn sign(_: ...) -> Result<Tensor>;

/// -1, 0 or 1, as the sign is; of a complex number, the number of magnitude 1 in its direction
#[op_def("sgn(Tensor self) -> Tensor", shape = pointwise, dtypes(all), inplace, out = "out")]
pub fn sgn(_: ...) -> Result<Tensor>;

/// The largest integer that is not above
#[op_def("floor(Tensor self) -> Tensor", shape = pointwise, dtypes(floating, integral), inplace, out = "out")]
pub fn floor(_: ...) -> Result<Tensor>;

/// The smallest integer that is not below
#[op_def("ceil(Tensor self) -> Tensor", shape = pointwise, dtypes(floating, integral), inplace, out = "out")]
pub fn ceil(_: ...) -> Result<Tensor>;

/// The integer part
#[op_def("trunc(Tensor self) -> Tensor", shape = pointwise, dtypes(floating, integral), inplace, out = "out")]
pub fn trunc(_: ...) -> Result<Tensor>;

/// The nearest integer, and the even one of two
#[op_def("round(Tensor self) -> Tensor", shape = pointwise, dtypes(floating, integral), inplace, out = "out")]
pub fn round(_: ...) -> Result<Tensor>;

/// What follows the integer part
#[op_def("frac(Tensor self) -> Tensor", shape = pointwise, dtypes(floating), inplace, out = "out")]
pub fn frac(_: ...) -> Result<Tensor>;

/// The nearest number of so many decimals
#[op_def("round.decimals(Tensor self, *, int decimals) -> Tensor", shape = pointwise, dtypes(floating), inplace, out = "decimals_out")]
pub fn round_decimals(_: ...) -> Result<Tensor>;

/// The same, with numbers in place of NaN and of infinities
#[op_def("nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor", shape = pointwise, dtypes(all), inplace, out = "out")]
pub fn nan_to_num(_: ...) -> Result<Tensor>;

/// A fraction from a half to one, and the power of two that it is to be multiplied with
#[op_def("frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent)", plan, out = "Tensor_out")]
pub fn frexp(_: ...) -> Result<(Tensor, Tensor)>;

#[op_plan(frexp)]
fn frexp_plan(this: &Tensor) -> Result<Plan<(), 2>, BadArgument> {
    if !this.dtype().is_floating() {
        return Err(BadArgument::dtype("self", this.dtype(), DTypes::Floating));
    }
    Ok(Plan::new((), [Spec::like(this, this.dtype()), Spec::like(this, DType::I32)]))
}

/// Makes sure that nothing boolean is negated.
///
/// # Errors
///
/// Where `this` is.
pub fn check_negation(this: &Tensor) -> Result<()> {
    if this.dtype() == DType::Bool {
        return Err(BadArgument::dtype("self", DType::Bool, DTypes::Numbers)
            .because("booleans have `logical_not`")
            .into());
    }
    Ok(())
}
