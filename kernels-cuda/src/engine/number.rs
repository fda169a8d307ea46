//! Numbers that travel in a launch's parameters.

use dispatch_runtime::{DType, Device, Error, ErrorKind, Operator, Result, Scalar, Tensor, bf16, f16};

/// Whether a tensor is one number that the CPU knows, which can go to any device.
pub(crate) fn is_single(tensor: &Tensor) -> bool {
    tensor.geometry().rank() == 0 && tensor.device().key() == Device::CPU.key()
}

/// What a dtype without an imaginary part has in the place of a number.
#[expect(clippy::cast_possible_truncation, reason = "integers wrap")]
pub(crate) fn narrowed(number: Scalar, dtype: DType) -> Scalar {
    let real = |round: fn(f64) -> f64| number.to_f64().map_or(number, |number| Scalar::Float(round(number)));
    match (dtype, number) {
        (DType::F16, _) => real(|number| f16::from_f32(number as f32).to_f64()),
        (DType::BF16, _) => real(|number| bf16::from_f32(number as f32).to_f64()),
        (DType::U8, Scalar::Int(number)) => Scalar::Int(i64::from(number.cast_unsigned() as u8)),
        (DType::I8, Scalar::Int(number)) => Scalar::Int(i64::from(number as i8)),
        (DType::I16, Scalar::Int(number)) => Scalar::Int(i64::from(number as i16)),
        (DType::I32, Scalar::Int(number)) => Scalar::Int(i64::from(number as i32)),
        _ => number,
    }
}

/// The bits of a number in the type that elements are computed in: F32, F64, I32 or I64.
#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "numbers convert as elements do")]
pub(crate) fn encoded(number: Scalar, class: DType) -> u64 {
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

/// Those with fractions.
pub(crate) const FLOATING: [DType; 4] = [DType::F32, DType::F64, DType::F16, DType::BF16];

/// What can be added and multiplied.
pub(crate) const NUMBERS: [DType; 9] =
    [DType::F32, DType::F64, DType::F16, DType::BF16, DType::I64, DType::I32, DType::I16, DType::I8, DType::U8];

/// Refuses a dtype that an operator has no kernels for.
pub(crate) fn check_dtype(
    operator: &Operator,
    argument: &'static str,
    dtype: DType,
    supported: &'static [DType],
) -> Result<()> {
    if supported.contains(&dtype) { Ok(()) } else { Err(unsupported(operator, argument, dtype, supported)) }
}

/// The refusal of a dtype.
#[cold]
pub(crate) fn unsupported(
    operator: &Operator,
    argument: &'static str,
    dtype: DType,
    supported: &'static [DType],
) -> Error {
    ErrorKind::UnsupportedDType { operator: operator.name(), argument, dtype, supported }.into()
}

/// What stands for a dtype where elements are only moved: the integer of its size.
pub(crate) const fn word_dtype(dtype: DType) -> DType {
    match dtype.size() {
        1 => DType::U8,
        2 => DType::I16,
        4 => DType::I32,
        _ => DType::I64,
    }
}
