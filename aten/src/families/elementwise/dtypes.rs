//! Queries about dtypes: their kind, promotion, and casts.

use dispatch_runtime::prelude::*;
use dispatch_runtime::result_dtype;

/// Whether the dtype is a floating-point dtype, not complex.
#[op_def("is_floating_point(Tensor self) -> bool")]
pub fn is_floating_point(this: &Tensor) -> Result<bool> {
    Ok(this.dtype().is_floating())
}

/// Whether the dtype is complex.
#[op_def("is_complex(Tensor self) -> bool")]
pub fn is_complex(this: &Tensor) -> Result<bool> {
    Ok(this.dtype().is_complex())
}

/// Whether the dtype can represent negative numbers. Complex dtypes count as signed.
#[op_def("is_signed(Tensor self) -> bool")]
pub fn is_signed(this: &Tensor) -> Result<bool> {
    Ok(!matches!(this.dtype(), DType::Bool | DType::U8))
}

/// The dtype to which two tensors are promoted.
#[op_def("result_type.Tensor(Tensor tensor, Tensor other) -> ScalarType")]
pub fn result_type(tensor: &Tensor, other: &Tensor) -> Result<DType> {
    Ok(result_dtype([tensor, other]))
}

/// The dtype to which a tensor and a scalar are promoted.
#[op_def("result_type.Scalar(Tensor tensor, Scalar other) -> ScalarType")]
pub fn result_type_scalar(tensor: &Tensor, other: Scalar) -> Result<DType> {
    Ok(result_dtype([tensor, &Tensor::number(other)]))
}

/// The dtype to which a scalar and a tensor are promoted.
#[op_def("result_type.Scalar_Tensor(Scalar scalar, Tensor tensor) -> ScalarType")]
pub fn result_type_scalar_tensor(scalar: Scalar, tensor: &Tensor) -> Result<DType> {
    result_type_scalar(tensor, scalar)
}

/// The dtype to which two scalars are promoted.
#[op_def("result_type.Scalar_Scalar(Scalar scalar1, Scalar scalar2) -> ScalarType")]
pub fn result_type_scalar_scalar(scalar1: Scalar, scalar2: Scalar) -> Result<DType> {
    Ok(result_dtype([&Tensor::number(scalar1), &Tensor::number(scalar2)]))
}

/// Whether results of dtype `from_` may be written to a tensor of dtype `to`.
/// Complex to real, floating to integral, and any number to bool are refused.
#[op_def("can_cast(ScalarType from_, ScalarType to) -> bool")]
pub fn can_cast(from_: DType, to: DType) -> Result<bool> {
    Ok(from_.can_cast(to))
}

/// The dtype to which two dtypes are promoted.
#[op_def("promote_types(ScalarType type1, ScalarType type2) -> ScalarType")]
pub fn promote_types(type1: DType, type2: DType) -> Result<DType> {
    Ok(type1.promote(type2))
}
