//! Arithmetic on lists of tensors: each tensor with the tensor or the number at its index, or with one number for all.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes};

use crate::{
    add, add_scalar, addcdiv, addcmul, clamp_max, clamp_max_, clamp_max__tensor, clamp_max_tensor, clamp_min,
    clamp_min_, clamp_min__tensor, clamp_min_tensor, div, div_scalar, lerp, lerp_scalar, lower_bound_tensor, maximum,
    minimum, mul, mul_scalar, pow_, pow__scalar, pow_scalar, pow_tensor_scalar, pow_tensor_scalar_out,
    pow_tensor_tensor, sub, sub_scalar, unbind_int, upper_bound_tensor,
};

/// `self + alpha * other`, for each pair of tensors
#[op_def("_foreach_add.List(Tensor[] self, Tensor[] other, *, Scalar alpha=1) -> Tensor[]", each = add(this, other, alpha), inplace, out = "List_out")]
pub fn _foreach_add_list(_: ...) -> Result<Vec<Tensor>>;

/// `self + scalar`, for each tensor
#[op_def("_foreach_add.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]", each = add_scalar(this, scalar, Scalar::from(1)), inplace, out = "Scalar_out")]
pub fn _foreach_add_scalar(_: ...) -> Result<Vec<Tensor>>;

/// `self + scalar`, for each tensor and its number
#[op_def("_foreach_add.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]", each = add_scalar(this, scalars, Scalar::from(1)), inplace, out = "ScalarList_out")]
pub fn _foreach_add_scalarlist(_: ...) -> Result<Vec<Tensor>>;

/// `self + alpha * other`, for each tensor `self` and the same `other`
#[op_def("_foreach_add.Tensor(Tensor[] self, Tensor other, *, Scalar alpha=1) -> Tensor[]", each = add(this, other, alpha), check = check_has_no_dimensions(other), inplace, out = "Tensor_out")]
pub fn _foreach_add(_: ...) -> Result<Vec<Tensor>>;

/// `self - alpha * other`, for each pair of tensors
#[op_def("_foreach_sub.List(Tensor[] self, Tensor[] other, *, Scalar alpha=1) -> Tensor[]", each = sub(this, other, alpha), inplace, out = "List_out")]
pub fn _foreach_sub_list(_: ...) -> Result<Vec<Tensor>>;

/// `self - scalar`, for each tensor
#[op_def("_foreach_sub.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]", each = sub_scalar(this, scalar, Scalar::from(1)), inplace, out = "Scalar_out")]
pub fn _foreach_sub_scalar(_: ...) -> Result<Vec<Tensor>>;

/// `self - scalar`, for each tensor and its number
#[op_def("_foreach_sub.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]", each = sub_scalar(this, scalars, Scalar::from(1)), inplace, out = "ScalarList_out")]
pub fn _foreach_sub_scalarlist(_: ...) -> Result<Vec<Tensor>>;

/// `self * other`, for each pair of tensors
#[op_def("_foreach_mul.List(Tensor[] self, Tensor[] other) -> Tensor[]", each = mul(this, other), inplace, out = "List_out")]
pub fn _foreach_mul_list(_: ...) -> Result<Vec<Tensor>>;

/// `self * scalar`, for each tensor
#[op_def("_foreach_mul.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]", each = mul_scalar(this, scalar), inplace, out = "Scalar_out")]
pub fn _foreach_mul_scalar(_: ...) -> Result<Vec<Tensor>>;

/// `self * scalar`, for each tensor and its number
#[op_def("_foreach_mul.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]", each = mul_scalar(this, scalars), inplace, out = "ScalarList_out")]
pub fn _foreach_mul_scalarlist(_: ...) -> Result<Vec<Tensor>>;

/// `self * other`, for each tensor `self` and the same `other`
#[op_def("_foreach_mul.Tensor(Tensor[] self, Tensor other) -> Tensor[]", each = mul(this, other), check = check_has_no_dimensions(other), inplace, out = "Tensor_out")]
pub fn _foreach_mul(_: ...) -> Result<Vec<Tensor>>;

/// `self / other`, for each pair of tensors
#[op_def("_foreach_div.List(Tensor[] self, Tensor[] other) -> Tensor[]", each = div(this, other), inplace, out = "List_out")]
pub fn _foreach_div_list(_: ...) -> Result<Vec<Tensor>>;

/// `self / scalar`, for each tensor
#[op_def("_foreach_div.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]", each = div_scalar(this, scalar), inplace, out = "Scalar_out")]
pub fn _foreach_div_scalar(_: ...) -> Result<Vec<Tensor>>;

/// `self / scalar`, for each tensor and its number
#[op_def("_foreach_div.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]", each = div_scalar(this, scalars), inplace, out = "ScalarList_out")]
pub fn _foreach_div_scalarlist(_: ...) -> Result<Vec<Tensor>>;

/// `self / other`, for each tensor `self` and the same `other`
#[op_def("_foreach_div.Tensor(Tensor[] self, Tensor other) -> Tensor[]", each = div(this, other), check = check_has_no_dimensions(other), inplace, out = "Tensor_out")]
pub fn _foreach_div(_: ...) -> Result<Vec<Tensor>>;

/// `self + value * tensor1 * tensor2`, for each triple of tensors
#[op_def("_foreach_addcmul.Scalar(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar value=1) -> Tensor[]", each = addcmul(this, tensor1, tensor2, value), inplace, out = "Scalar_out")]
pub fn _foreach_addcmul_scalar(_: ...) -> Result<Vec<Tensor>>;

/// `self + scalar * tensor1 * tensor2`, for each triple of tensors and its number
#[op_def("_foreach_addcmul.ScalarList(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar[] scalars) -> Tensor[]", each = addcmul(this, tensor1, tensor2, scalars), inplace, out = "ScalarList_out")]
pub fn _foreach_addcmul_scalarlist(_: ...) -> Result<Vec<Tensor>>;

/// `self + value * tensor1 / tensor2`, for each triple of tensors
#[op_def("_foreach_addcdiv.Scalar(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar value=1) -> Tensor[]", each = addcdiv(this, tensor1, tensor2, value), inplace, out = "Scalar_out")]
pub fn _foreach_addcdiv_scalar(_: ...) -> Result<Vec<Tensor>>;

/// `self + scalar * tensor1 / tensor2`, for each triple of tensors and its number
#[op_def("_foreach_addcdiv.ScalarList(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar[] scalars) -> Tensor[]", each = addcdiv(this, tensor1, tensor2, scalars), inplace, out = "ScalarList_out")]
pub fn _foreach_addcdiv_scalarlist(_: ...) -> Result<Vec<Tensor>>;

/// `self + weight * (end - self)`, for each triple of tensors
#[op_def("_foreach_lerp.List(Tensor[] self, Tensor[] tensors1, Tensor[] weights) -> Tensor[]", each = lerp(this, tensors1, weights), inplace, out = "List_out")]
pub fn _foreach_lerp_list(_: ...) -> Result<Vec<Tensor>>;

/// `self + weight * (end - self)`, for each pair of tensors
#[op_def("_foreach_lerp.Scalar(Tensor[] self, Tensor[] tensors1, Scalar weight) -> Tensor[]", each = lerp_scalar(this, tensors1, weight), inplace, out = "Scalar_out")]
pub fn _foreach_lerp_scalar(_: ...) -> Result<Vec<Tensor>>;

/// `self + weight * (end - self)`, for each pair of tensors and its weight
#[op_def("_foreach_lerp.ScalarList(Tensor[] self, Tensor[] tensors1, Scalar[] weight) -> Tensor[]", each = lerp_scalar(this, tensors1, weight), inplace, out = "ScalarList_out")]
pub fn _foreach_lerp_scalarlist(_: ...) -> Result<Vec<Tensor>>;

/// The larger of two elements, for each pair of tensors; the gradient of equal elements goes to `self`
#[op_def("_foreach_clamp_min.List(Tensor[] self, Tensor[] other) -> Tensor[]", each = clamp_min_tensor(this, other), inplace, out = "List_out")]
pub fn _foreach_clamp_min_list(_: ...) -> Result<Vec<Tensor>>;

/// The larger of the element and the number, for each tensor
#[op_def("_foreach_clamp_min.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]", each = clamp_min(this, scalar), inplace, out = "Scalar_out")]
pub fn _foreach_clamp_min_scalar(_: ...) -> Result<Vec<Tensor>>;

/// The larger of the element and the number, for each tensor and its number
#[op_def("_foreach_clamp_min.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]", each = clamp_min(this, scalars), inplace, out = "ScalarList_out")]
pub fn _foreach_clamp_min_scalarlist(_: ...) -> Result<Vec<Tensor>>;

/// The smaller of two elements, for each pair of tensors; the gradient of equal elements goes to `self`
#[op_def("_foreach_clamp_max.List(Tensor[] self, Tensor[] other) -> Tensor[]", each = clamp_max_tensor(this, other), inplace, out = "List_out")]
pub fn _foreach_clamp_max_list(_: ...) -> Result<Vec<Tensor>>;

/// The smaller of the element and the number, for each tensor
#[op_def("_foreach_clamp_max.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]", each = clamp_max(this, scalar), inplace, out = "Scalar_out")]
pub fn _foreach_clamp_max_scalar(_: ...) -> Result<Vec<Tensor>>;

/// The smaller of the element and the number, for each tensor and its number
#[op_def("_foreach_clamp_max.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]", each = clamp_max(this, scalars), inplace, out = "ScalarList_out")]
pub fn _foreach_clamp_max_scalarlist(_: ...) -> Result<Vec<Tensor>>;

/// The larger of two elements, for each pair of tensors
#[op_def("_foreach_maximum.List(Tensor[] self, Tensor[] other) -> Tensor[]", each = maximum(this, other), out = "List_out")]
pub fn _foreach_maximum_list(_: ...) -> Result<Vec<Tensor>>;

/// [`_foreach_maximum_list`], in place.
#[op_def("_foreach_maximum_.List(Tensor(a!)[] self, Tensor[] other) -> ()", each = clamp_min__tensor(this, other))]
pub fn _foreach_maximum__list(_: ...) -> Result<()>;

/// The larger of the element and the number, for each tensor
#[op_def("_foreach_maximum.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]", each = maximum(this, &lower_bound_tensor(this, "scalar", scalar)?), out = "Scalar_out")]
pub fn _foreach_maximum_scalar(_: ...) -> Result<Vec<Tensor>>;

/// [`_foreach_maximum_scalar`], in place.
#[op_def("_foreach_maximum_.Scalar(Tensor(a!)[] self, Scalar scalar) -> ()", each = clamp_min_(this, scalar))]
pub fn _foreach_maximum__scalar(_: ...) -> Result<()>;

/// The larger of the element and the number, for each tensor and its number
#[op_def("_foreach_maximum.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]", each = maximum(this, &lower_bound_tensor(this, "scalars", scalars)?), out = "ScalarList_out")]
pub fn _foreach_maximum_scalarlist(_: ...) -> Result<Vec<Tensor>>;

/// [`_foreach_maximum_scalarlist`], in place.
#[op_def("_foreach_maximum_.ScalarList(Tensor(a!)[] self, Scalar[] scalars) -> ()", each = clamp_min_(this, scalars))]
pub fn _foreach_maximum__scalarlist(_: ...) -> Result<()>;

/// The smaller of two elements, for each pair of tensors
#[op_def("_foreach_minimum.List(Tensor[] self, Tensor[] other) -> Tensor[]", each = minimum(this, other), out = "List_out")]
pub fn _foreach_minimum_list(_: ...) -> Result<Vec<Tensor>>;

/// [`_foreach_minimum_list`], in place.
#[op_def("_foreach_minimum_.List(Tensor(a!)[] self, Tensor[] other) -> ()", each = clamp_max__tensor(this, other))]
pub fn _foreach_minimum__list(_: ...) -> Result<()>;

/// The smaller of the element and the number, for each tensor
#[op_def("_foreach_minimum.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]", each = minimum(this, &upper_bound_tensor(this, "scalar", scalar)?), out = "Scalar_out")]
pub fn _foreach_minimum_scalar(_: ...) -> Result<Vec<Tensor>>;

/// [`_foreach_minimum_scalar`], in place.
#[op_def("_foreach_minimum_.Scalar(Tensor(a!)[] self, Scalar scalar) -> ()", each = clamp_max_(this, scalar))]
pub fn _foreach_minimum__scalar(_: ...) -> Result<()>;

/// The smaller of the element and the number, for each tensor and its number
#[op_def("_foreach_minimum.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]", each = minimum(this, &upper_bound_tensor(this, "scalars", scalars)?), out = "ScalarList_out")]
pub fn _foreach_minimum_scalarlist(_: ...) -> Result<Vec<Tensor>>;

/// [`_foreach_minimum_scalarlist`], in place.
#[op_def("_foreach_minimum_.ScalarList(Tensor(a!)[] self, Scalar[] scalars) -> ()", each = clamp_max_(this, scalars))]
pub fn _foreach_minimum__scalarlist(_: ...) -> Result<()>;

/// `self^exponent`, for each pair of tensors
#[op_def("_foreach_pow.List(Tensor[] self, Tensor[] exponent) -> Tensor[]", each = pow_tensor_tensor(this, exponent), out = "List_out")]
pub fn _foreach_pow_list(_: ...) -> Result<Vec<Tensor>>;

/// [`_foreach_pow_list`], in place.
#[op_def("_foreach_pow_.List(Tensor(a!)[] self, Tensor[] exponent) -> ()", each = pow_(this, exponent))]
pub fn _foreach_pow__list(_: ...) -> Result<()>;

/// `self^exponent`, for each tensor
#[op_def("_foreach_pow.Scalar(Tensor[] self, Scalar exponent) -> Tensor[]", each = pow_tensor_scalar(this, exponent))]
pub fn _foreach_pow_scalar(_: ...) -> Result<Vec<Tensor>>;

/// [`_foreach_pow_scalar`], into tensors of the caller's.
#[op_def("_foreach_pow.Scalar_out(Tensor[] self, Scalar exponent, *, Tensor(a!)[] out) -> ()", each = pow_tensor_scalar_out(this, exponent, out))]
pub fn _foreach_pow_scalar_out(_: ...) -> Result<()>;

/// [`_foreach_pow_scalar`], in place.
#[op_def("_foreach_pow_.Scalar(Tensor(a!)[] self, Scalar exponent) -> ()", each = pow__scalar(this, exponent))]
pub fn _foreach_pow__scalar(_: ...) -> Result<()>;

/// `self^exponent`, for each tensor and its exponent
#[op_def("_foreach_pow.ScalarList(Tensor[] self, Scalar[] exponent) -> Tensor[]", each = pow_tensor_scalar(this, exponent))]
pub fn _foreach_pow_scalarlist(_: ...) -> Result<Vec<Tensor>>;

/// [`_foreach_pow_scalarlist`], into tensors of the caller's.
#[op_def("_foreach_pow.ScalarList_out(Tensor[] self, Scalar[] exponent, *, Tensor(a!)[] out) -> ()", each = pow_tensor_scalar_out(this, exponent, out))]
pub fn _foreach_pow_scalarlist_out(_: ...) -> Result<()>;

/// [`_foreach_pow_scalarlist`], in place.
#[op_def("_foreach_pow_.ScalarList(Tensor(a!)[] self, Scalar[] exponent) -> ()", each = pow__scalar(this, exponent))]
pub fn _foreach_pow__scalarlist(_: ...) -> Result<()>;

/// `self^exponent`, for each tensor `exponent` and the same number
#[op_def("_foreach_pow.ScalarAndTensor(Scalar self, Tensor[] exponent) -> Tensor[]", each = pow_scalar(this, exponent))]
pub fn _foreach_pow_scalarandtensor(_: ...) -> Result<Vec<Tensor>>;

/// `self + scalars[i] * tensor1 * tensor2`, for the triple of tensors at each index `i`
#[op_def("_foreach_addcmul.Tensor(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Tensor scalars) -> Tensor[]", inplace, out = "Tensor_out", calls = _foreach_add_list(this, &_foreach_mul_list(&scale_list(tensor1, scalars)?, tensor2)?, 1.into()))]
pub fn _foreach_addcmul(_: ...) -> Result<Vec<Tensor>>;

/// `self + scalars[i] * tensor1 / tensor2`, for the triple of tensors at each index `i`
#[op_def("_foreach_addcdiv.Tensor(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Tensor scalars) -> Tensor[]", inplace, out = "Tensor_out", check = check_quotients(tensor1, tensor2), calls = _foreach_add_list(this, &_foreach_div_list(&scale_list(tensor1, scalars)?, tensor2)?, 1.into()))]
pub fn _foreach_addcdiv(_: ...) -> Result<Vec<Tensor>>;

/// Returns each tensor times the element of a vector at its index.
fn scale_list(list: &[Tensor], scalars: &Tensor) -> Result<Vec<Tensor>> {
    if scalars.geometry().rank() != 1 {
        return Err(BadArgument::rank("scalars", scalars.geometry().rank(), 1).into());
    }
    let expected = i64::try_from(list.len()).unwrap_or(i64::MAX);
    if scalars.sizes() != [expected] {
        return Err(BadArgument::sizes("scalars", scalars.sizes(), &[expected][..])
            .because("`self` has this many tensors")
            .into());
    }
    // As numbers, the elements do not change the dtype of a tensor.
    let numbers = unbind_int(scalars, 0)?
        .into_iter()
        .zip(list)
        .map(|(number, tensor)| crate::to_dtype(&number, tensor.dtype(), false, false, None));
    _foreach_mul_list(list, &numbers.collect::<Result<Vec<_>>>()?)
}

/// Refuses a vector in the place of a number.
fn check_has_no_dimensions(other: &Tensor) -> Result<(), BadArgument> {
    match other.sizes().len() {
        0 => Ok(()),
        rank => Err(BadArgument::rank("other", rank, 0).because("it is one number for all tensors")),
    }
}

/// Refuses quotients of integers.
fn check_quotients(tensor1: &[Tensor], tensor2: &[Tensor]) -> Result<(), BadArgument> {
    let has_fractions = |tensor: &Tensor| tensor.dtype().is_floating() || tensor.dtype().is_complex();
    match tensor1.iter().zip(tensor2).position(|(one, other)| !has_fractions(one) && !has_fractions(other)) {
        Some(i) => Err(BadArgument::dtype(format!("tensor1[{i}]"), tensor1[i].dtype(), DTypes::FloatingOrComplex)
            .because("a quotient has a fraction")),
        None => Ok(()),
    }
}
