//! Scalars as launch arguments, and the dtypes that kernels support.

use dispatch_runtime::{
    DType, Device, Error, ErrorKind, Float8E4M3Fn, Float8E4M3Fnuz, Float8E5M2, Float8E5M2Fnuz, Float8E8M0Fnu, Operator,
    Result, Scalar, Tensor, bf16, f16,
};

/// Whether a tensor is a zero-dimensional CPU tensor, whose value any device can use as a scalar.
pub(crate) fn is_cpu_scalar(tensor: &Tensor) -> bool {
    tensor.geometry().rank() == 0 && tensor.device().key() == Device::CPU.key()
}

/// Rounds a scalar to a real dtype: integers wrap, fractions round to the nearest value.
#[expect(clippy::cast_possible_truncation, reason = "integers wrap")]
pub(crate) fn round_to_dtype(number: Scalar, dtype: DType) -> Scalar {
    let real = |round: fn(f64) -> f64| number.to_f64().map_or(number, |number| Scalar::Float(round(number)));
    match (dtype, number) {
        (DType::F16, _) => real(|number| f16::from_f32(number as f32).to_f64()),
        (DType::BF16, _) => real(|number| bf16::from_f32(number as f32).to_f64()),
        (DType::F8E5M2, _) => real(|number| Float8E5M2::from_f32(number as f32).into()),
        (DType::F8E4M3FN, _) => real(|number| Float8E4M3Fn::from_f32(number as f32).into()),
        (DType::F8E5M2FNUZ, _) => real(|number| Float8E5M2Fnuz::from_f32(number as f32).into()),
        (DType::F8E4M3FNUZ, _) => real(|number| Float8E4M3Fnuz::from_f32(number as f32).into()),
        (DType::F8E8M0FNU, _) => real(|number| Float8E8M0Fnu::from_f32(number as f32).into()),
        (DType::U8, Scalar::Int(number)) => Scalar::Int(i64::from(number.cast_unsigned() as u8)),
        (DType::I8, Scalar::Int(number)) => Scalar::Int(i64::from(number as i8)),
        (DType::I16, Scalar::Int(number)) => Scalar::Int(i64::from(number as i16)),
        (DType::I32, Scalar::Int(number)) => Scalar::Int(i64::from(number as i32)),
        _ => number,
    }
}

/// Returns the bits of a scalar in the type that elements are computed in: F32, F64, I32 or I64.
#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "numbers convert as elements do")]
pub(crate) fn encode_scalar(number: Scalar, class: DType) -> u64 {
    let real = match number {
        Scalar::Int(value) => value as f64,
        Scalar::Complex(value) => value.re,
        other => other.to_f64().unwrap_or(f64::NAN),
    };
    let whole = match number {
        Scalar::Int(value) => value,
        _ => real as i64,
    };
    match class {
        DType::F32 => u64::from((real as f32).to_bits()),
        DType::F64 => real.to_bits(),
        DType::I32 => u64::from((whole as i32).cast_unsigned()),
        _ => whole.cast_unsigned(),
    }
}

/// The floating dtypes.
pub(crate) const FLOATING_DTYPES: [DType; 4] = [DType::F32, DType::F64, DType::F16, DType::BF16];

/// The dtypes of numbers: floating and integral ones, without bool.
pub(crate) const NUMERIC_DTYPES: [DType; 9] =
    [DType::F32, DType::F64, DType::F16, DType::BF16, DType::I64, DType::I32, DType::I16, DType::I8, DType::U8];

/// Returns [`ErrorKind::UnsupportedDType`] if an operator has no kernel for a dtype.
pub(crate) fn check_dtype(
    operator: &Operator,
    argument: &'static str,
    dtype: DType,
    supported: &'static [DType],
) -> Result<()> {
    if supported.contains(&dtype) { Ok(()) } else { Err(unsupported_dtype(operator, argument, dtype, supported)) }
}

/// Creates the error of an unsupported dtype.
#[cold]
pub(crate) fn unsupported_dtype(
    operator: &Operator,
    argument: &'static str,
    dtype: DType,
    supported: &'static [DType],
) -> Error {
    ErrorKind::UnsupportedDType { operator: operator.name(), argument, dtype, supported }.into()
}

/// Returns the integer dtype of the same element size, for kernels that only move elements.
pub(crate) const fn integer_dtype_of_same_size(dtype: DType) -> DType {
    match dtype.size() {
        1 => DType::U8,
        2 => DType::I16,
        4 => DType::I32,
        _ => DType::I64,
    }
}
