//! What is asked of dtypes.

use dispatch_runtime::prelude::*;
use dispatch_runtime::result_dtype;

/// Whether the elements are real numbers with fractions.
#[op_def("is_floating_point(Tensor self) -> bool")]
pub fn is_floating_point(this: &Tensor) -> Result<bool> {
    Ok(this.dtype().is_floating())
}

/// Whether the elements are complex numbers.
#[op_def("is_complex(Tensor self) -> bool")]
pub fn is_complex(this: &Tensor) -> Result<bool> {
    Ok(this.dtype().is_complex())
}

/// Whether an element can be less than zero, or a complex number.
#[op_def("is_signed(Tensor self) -> bool")]
pub fn is_signed(this: &Tensor) -> Result<bool> {
    Ok(!matches!(this.dtype(), DType::Bool | DType::U8))
}

/// The dtype in which two tensors meet.
#[op_def("result_type.Tensor(Tensor tensor, Tensor other) -> ScalarType")]
pub fn result_type(tensor: &Tensor, other: &Tensor) -> Result<DType> {
    Ok(result_dtype([tensor, other]))
}

/// The dtype in which a tensor meets a number.
#[op_def("result_type.Scalar(Tensor tensor, Scalar other) -> ScalarType")]
pub fn result_type_scalar(tensor: &Tensor, other: Scalar) -> Result<DType> {
    Ok(result_dtype([tensor, &Tensor::number(other)]))
}

/// The dtype in which a number meets a tensor.
#[op_def("result_type.Scalar_Tensor(Scalar scalar, Tensor tensor) -> ScalarType")]
pub fn result_type_scalar_tensor(scalar: Scalar, tensor: &Tensor) -> Result<DType> {
    result_type_scalar(tensor, scalar)
}

/// The dtype in which two numbers meet.
#[op_def("result_type.Scalar_Scalar(Scalar scalar1, Scalar scalar2) -> ScalarType")]
pub fn result_type_scalar_scalar(scalar1: Scalar, scalar2: Scalar) -> Result<DType> {
    Ok(result_dtype([&Tensor::number(scalar1), &Tensor::number(scalar2)]))
}

/// Whether results of one dtype may be written into another: never if that loses a kind of number.
#[op_def("can_cast(ScalarType from_, ScalarType to) -> bool")]
pub fn can_cast(from_: DType, to: DType) -> Result<bool> {
    Ok(from_.can_cast(to))
}

/// The smallest dtype that holds the numbers of both.
#[op_def("promote_types(ScalarType type1, ScalarType type2) -> ScalarType")]
pub fn promote_types(type1: DType, type2: DType) -> Result<DType> {
    Ok(type1.promote(type2))
}
