//! Division and remainders.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{OperandError, Promotion, Spec};

use crate::words::impl_words;

/// `self / other`
#[op_def("div.Tensor(Tensor self, Tensor other) -> Tensor", operator = Div, shape = pointwise, dtype = float, dtypes(floating, complex), inplace, out = "out")]
pub fn div(_: ...) -> Result<Tensor>;

/// `self / other` for a scalar `other`
#[op_def("div.Scalar(Tensor self, Scalar other) -> Tensor", inplace, out = "Scalar_out", calls = div(this, &Tensor::number(other)))]
pub fn div_scalar(_: ...) -> Result<Tensor>;

/// `self / other`, rounded: `floor` downwards, `trunc` towards zero
#[op_def(
    "div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor",
    plan,
    inplace,
    out = "out_mode"
)]
pub fn div_tensor_mode(_: ...) -> Result<Tensor>;

/// `self / other` for a scalar `other`, rounded: `floor` downwards, `trunc` towards zero
#[op_def("div.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor", inplace, out = "Scalar_mode_out", calls = div_tensor_mode(this, &Tensor::number(other), rounding_mode))]
pub fn div_scalar_mode(_: ...) -> Result<Tensor>;

/// `self / other`, rounded downwards
#[op_def("floor_divide(Tensor self, Tensor other) -> Tensor", shape = pointwise, dtypes(floating, integral), out = "out")]
pub fn floor_divide(_: ...) -> Result<Tensor>;

/// [`floor_divide`], in place
#[op_def("floor_divide_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)")]
pub fn floor_divide_(_: ...) -> Result<()>;

/// `self / other` for a scalar `other`, rounded downwards
#[op_def("floor_divide.Scalar(Tensor self, Scalar other) -> Tensor", out = "Scalar_out", calls = floor_divide(this, &Tensor::number(other)))]
pub fn floor_divide_scalar(_: ...) -> Result<Tensor>;

/// `self / other` for a scalar `other`, rounded downwards, in place
#[op_def("floor_divide_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)", calls = floor_divide_(this, &Tensor::number(other)))]
pub fn floor_divide__scalar(_: ...) -> Result<()>;

/// The remainder of `self / other`, with the sign of `other`
#[op_def("remainder.Tensor(Tensor self, Tensor other) -> Tensor", operator = Rem, shape = pointwise, dtypes(floating, integral), inplace, out = "Tensor_out")]
pub fn remainder(_: ...) -> Result<Tensor>;

/// The remainder of `self / other` for a scalar `other`, with the sign of `other`
#[op_def("remainder.Scalar(Tensor self, Scalar other) -> Tensor", inplace, out = "Scalar_out", calls = remainder(this, &Tensor::number(other)))]
pub fn remainder_scalar(_: ...) -> Result<Tensor>;

/// The remainder of `self / other` for a scalar `self`, with the sign of `other`
#[op_def("remainder.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", out = "Scalar_Tensor_out", calls = remainder(&Tensor::number(this), other))]
pub fn remainder_scalar_tensor(_: ...) -> Result<Tensor>;

/// The remainder of `self / other`, with the sign of `self`
#[op_def("fmod.Tensor(Tensor self, Tensor other) -> Tensor", shape = pointwise, dtypes(floating, integral), inplace, out = "Tensor_out")]
pub fn fmod(_: ...) -> Result<Tensor>;

/// The remainder of `self / other` for a scalar `other`, with the sign of `self`
#[op_def("fmod.Scalar(Tensor self, Scalar other) -> Tensor", inplace, out = "Scalar_out", calls = fmod(this, &Tensor::number(other)))]
pub fn fmod_scalar(_: ...) -> Result<Tensor>;

/// Returns the spec of an elementwise operator's result. Errors call the second operand by `name`.
pub(super) fn pointwise_spec(this: &Tensor, other: &Tensor, name: &'static str, promotion: Promotion) -> Result<Spec> {
    let dtype = promotion.result_dtype(&[this, other]);
    let named =
        |error: OperandError| if error.operand == 0 { error.for_argument("self") } else { error.for_argument(name) };
    Ok(Spec::pointwise(&[this, other], dtype).map_err(named)?)
}

/// The rounding mode of a quotient.
///
/// ```
/// assert_eq!("floor".parse(), Ok(aten::Rounding::Floor));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rounding {
    /// Rounding down, towards minus infinity.
    Floor,
    /// Rounding towards zero.
    Trunc,
}

impl_words! { Rounding, "rounding_mode": Floor = "floor", Trunc = "trunc", }

#[op_plan(div_tensor_mode)]
fn div_mode_plan(this: &Tensor, other: &Tensor, rounding_mode: Option<&str>) -> Result<Plan<Option<Rounding>>> {
    let rounding = rounding_mode.map(str::parse::<Rounding>).transpose()?;
    let promotion = if rounding.is_some() { Promotion::Common } else { Promotion::Float };
    Ok(Plan::new(rounding, [pointwise_spec(this, other, "other", promotion)?]))
}

#[op_meta(floor_divide_)]
fn floor_divide_in_place_meta(this: &mut Tensor, other: &Tensor) -> Result<()> {
    pointwise_spec(this, other, "other", Promotion::Common)?.fit_output("self", this)
}
