//! The rule for float8 dtypes: few operators compute with them, and none mixes them with other dtypes.

use crate::error::{BadArgument, DTypes};
use crate::scalar::DType;
use crate::tensor::Tensor;

/// Refuses a float8 dtype of an argument.
///
/// ```
/// use dispatch_runtime::{DType, check_not_float8};
/// assert!(check_not_float8("self", Some(DType::F16)).is_ok());
/// assert!(check_not_float8("self", Some(DType::F8E5M2)).is_err());
/// ```
///
/// # Errors
///
/// Returns [`BadArgument`] if the dtype is a float8 dtype.
#[inline(always)]
pub fn check_not_float8(
    argument: impl Into<std::borrow::Cow<'static, str>>,
    dtype: Option<DType>,
) -> Result<(), BadArgument> {
    match dtype {
        Some(dtype) if dtype.is_float8() => Err(float8_error(argument, dtype)),
        _ => Ok(()),
    }
}

/// Checks the operands of an elementwise call that computes in a float8 dtype: the operator must accept it, and each operand with dimensions
/// must have it, because it promotes with no other dtype. Conditions are boolean.
///
/// ```
/// use dispatch_runtime::{DType, Float8E5M2, Tensor, check_float8_operands};
/// let (small, single) = (Tensor::from_slice(&[Float8E5M2::from_f32(1.0)]), Tensor::from_slice(&[1.0_f32]));
/// assert!(check_float8_operands(DType::F8E5M2, true, &["self"], [&small]).is_ok());
/// assert!(check_float8_operands(DType::F8E5M2, true, &["self", "other"], [&small, &single]).is_err());
/// ```
///
/// # Errors
///
/// Returns [`BadArgument`] for the first operand that the operator does not accept.
pub fn check_float8_operands<'a>(
    compute_dtype: DType,
    is_accepted: bool,
    names: &[&'static str],
    operands: impl IntoIterator<Item = &'a Tensor>,
) -> Result<(), BadArgument> {
    if !compute_dtype.is_float8() {
        return Ok(());
    }
    for (name, operand) in names.iter().zip(operands) {
        let dtype = operand.dtype();
        if !is_accepted {
            check_not_float8(*name, Some(dtype))?;
        } else if dtype != compute_dtype && dtype != DType::Bool && operand.geometry().rank() > 0 {
            return Err(BadArgument::dtype(*name, dtype, compute_dtype).because("float8 dtypes promote with no other"));
        }
    }
    Ok(())
}

#[cold]
fn float8_error(argument: impl Into<std::borrow::Cow<'static, str>>, dtype: DType) -> BadArgument {
    let expected =
        DTypes::Text("another dtype, because this operator does not compute with float8; convert it first".into());
    BadArgument::dtype(argument, dtype, expected)
}
