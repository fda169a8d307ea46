//! Checks that a dtype can represent the scalar arguments of an operator.
//!
//! [`Scalar::fits`] is the rule. Each check names the operators or the kind of argument that it is for.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Scalar};

/// Refuses scalars that `dtype` cannot represent.
///
/// ```
/// use dispatch_runtime::DType;
/// assert!(aten::check_scalars_fit(DType::I8, [("min", 1.into()), ("max", 200.into())]).is_err());
/// ```
///
/// # Errors
///
/// Returns [`BadArgument`] for the first such scalar.
pub fn check_scalars_fit<const N: usize>(
    dtype: DType,
    numbers: [(&'static str, Scalar); N],
) -> Result<(), BadArgument> {
    numbers.into_iter().try_for_each(|(argument, number)| number.check_fits(argument, dtype))
}

/// Refuses scalars that the computation's dtype cannot represent. This is `f32` for `f16` and `bf16`, and `dtype` itself for all others.
///
/// ```
/// use dispatch_runtime::DType;
/// assert!(aten::check_scalars_fit_compute_dtype(DType::F16, [("alpha", 1e5.into())]).is_ok());
/// assert!(aten::check_scalars_fit_compute_dtype(DType::F32, [("alpha", 1e50.into())]).is_err());
/// ```
///
/// # Errors
///
/// Returns [`BadArgument`] for the first such scalar.
pub fn check_scalars_fit_compute_dtype<const N: usize>(
    dtype: DType,
    numbers: [(&'static str, Scalar); N],
) -> Result<(), BadArgument> {
    check_scalars_fit(accumulate_dtype(dtype), numbers)
}

/// Returns the dtype in which elements of this dtype are computed and summed: `f32` for `f16` and `bf16`, and otherwise their own.
pub(crate) fn accumulate_dtype(dtype: DType) -> DType {
    if matches!(dtype, DType::F16 | DType::BF16) { DType::F32 } else { dtype }
}

/// Refuses a scalar that the `count` elements of a new or overwritten tensor cannot represent. If the tensor is a single number
/// of at most 16 bits, the scalar is accepted and converted as in a cast.
///
/// ```
/// use dispatch_runtime::DType;
/// assert!(aten::check_fill_value("fill_value", 1e5.into(), DType::F16, 2).is_err());
/// assert!(aten::check_fill_value("fill_value", 1e5.into(), DType::F16, 1).is_ok());
/// ```
///
/// # Errors
///
/// Returns [`BadArgument`] if `dtype` cannot represent the scalar.
pub fn check_fill_value(argument: &'static str, number: Scalar, dtype: DType, count: i64) -> Result<(), BadArgument> {
    let is_narrow = matches!(dtype, DType::F16 | DType::BF16) || dtype.is_float8();
    number.check_fits(argument, if is_narrow && count == 1 { DType::F64 } else { dtype })
}

/// Refuses a `lambd` of [`softshrink`](crate::softshrink) that is negative, or that the dtype of `this` cannot represent.
///
/// ```
/// let x = dispatch_runtime::Tensor::from_slice(&[1.0_f32]);
/// assert!(aten::check_softshrink(&x, (-1).into()).is_err());
/// ```
///
/// # Errors
///
/// Returns [`BadArgument`] for such a `lambd`.
pub fn check_softshrink(this: &Tensor, lambd: Scalar) -> Result<()> {
    crate::check_number_at_least("lambd", lambd.to_f64().unwrap_or(f64::NAN), 0.0)?;
    Ok(check_scalars_fit(this.dtype(), [("lambd", lambd)])?)
}

/// Checks the scalars of [`threshold`](crate::threshold): the computation's dtype must represent `threshold`, and the dtype of `this` must
/// represent `value`.
///
/// ```
/// let x = dispatch_runtime::Tensor::from_slice(&[1_u8]);
/// assert!(aten::check_threshold(&x, 3.into(), 300.into()).is_err());
/// ```
///
/// # Errors
///
/// Returns [`BadArgument`] for a scalar that cannot be represented.
pub fn check_threshold(this: &Tensor, threshold: Scalar, value: Scalar) -> Result<()> {
    check_scalars_fit_compute_dtype(this.dtype(), [("threshold", threshold)])?;
    Ok(check_scalars_fit(this.dtype(), [("value", value)])?)
}

/// Refuses bounds of [`hardtanh`](crate::hardtanh) that the dtype of `this` cannot represent. An integer dtype also accepts a lower bound
/// below its minimum and an upper bound above its maximum.
///
/// ```
/// let x = dispatch_runtime::Tensor::from_slice(&[1_i8]);
/// assert!(aten::check_hardtanh(&x, (-300).into(), 5.into()).is_ok());
/// assert!(aten::check_hardtanh(&x, 300.into(), 500.into()).is_err());
/// ```
///
/// # Errors
///
/// Returns [`BadArgument`] for such a bound.
pub fn check_hardtanh(this: &Tensor, min_val: Scalar, max_val: Scalar) -> Result<()> {
    let bound = |argument, number: Scalar| match number {
        Scalar::Float(_) | Scalar::Complex(_) if this.dtype().is_integral() => {
            number.check_fits(argument, DType::I64)?;
            Ok(Scalar::Int(number.to_i64()))
        }
        other => Ok::<_, BadArgument>(other),
    };
    check_bounds_fit(
        this.dtype(),
        ("min_val", Some(bound("min_val", min_val)?)),
        ("max_val", Some(bound("max_val", max_val)?)),
    )?;
    Ok(())
}

/// Refuses bounds that `dtype` cannot represent. An integer dtype also accepts an integer lower bound below its minimum and an integer
/// upper bound above its maximum.
pub(crate) fn check_bounds_fit(
    dtype: DType,
    (min_name, min): (&'static str, Option<Scalar>),
    (max_name, max): (&'static str, Option<Scalar>),
) -> Result<(), BadArgument> {
    let is_representable = |number: Scalar, is_min: bool| match (number, dtype.integer_range()) {
        (Scalar::Int(number), Some((least, most))) => {
            if is_min {
                number <= most
            } else {
                number >= least
            }
        }
        _ => number.fits(dtype),
    };
    for (argument, number, is_min) in [(min_name, min, true), (max_name, max, false)] {
        if let Some(number) = number.filter(|number| !is_representable(*number, is_min)) {
            return Err(BadArgument::overflow(argument, number, dtype));
        }
    }
    Ok(())
}

/// Returns the sum of integers, without overflow.
pub(crate) fn sum_i128(numbers: &[i64]) -> i128 {
    numbers.iter().copied().map(i128::from).sum()
}
