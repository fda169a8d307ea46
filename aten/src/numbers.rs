//! Numbers among tensors: whether the dtype that is computed in holds them.
//!
//! Each check is for the operators whose arguments it has; [`Scalar::fits`] is the rule.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{
    AccessError, BadArgument, Bool, Complex32, Complex64, Element, Scalar, bf16, f16, result_dtype,
};

/// The number that a tensor without dimensions is, if its memory is the CPU's.
///
/// ```
/// use dispatch_runtime::{Scalar, Tensor};
/// assert_eq!(aten::number_of(&Tensor::number(2.into()))?, Scalar::Int(2));
/// # Ok::<(), dispatch_runtime::AccessError>(())
/// ```
///
/// # Errors
///
/// Returns [`AccessError`] if the elements cannot be read.
pub fn number_of(tensor: &Tensor) -> Result<Scalar, AccessError> {
    fn first<T: Element>(tensor: &Tensor) -> Result<T, AccessError> {
        // A tensor without dimensions has one element.
        tensor.read::<T>()?.first().copied().ok_or(AccessError::InUse)
    }
    Ok(match tensor.dtype() {
        DType::U8 => Scalar::Int(first::<u8>(tensor)?.into()),
        DType::I8 => Scalar::Int(first::<i8>(tensor)?.into()),
        DType::I16 => Scalar::Int(first::<i16>(tensor)?.into()),
        DType::I32 => Scalar::Int(first::<i32>(tensor)?.into()),
        DType::I64 => Scalar::Int(first::<i64>(tensor)?),
        DType::F16 => Scalar::Float(first::<f16>(tensor)?.to_f64()),
        DType::BF16 => Scalar::Float(first::<bf16>(tensor)?.to_f64()),
        DType::F32 => Scalar::Float(first::<f32>(tensor)?.into()),
        DType::F64 => Scalar::Float(first::<f64>(tensor)?),
        DType::Bool => Scalar::Bool(first::<Bool>(tensor)?.into()),
        DType::C64 => {
            let value = first::<Complex32>(tensor)?;
            Scalar::Complex(Complex64::new(value.re.into(), value.im.into()))
        }
        DType::C128 => Scalar::Complex(first::<Complex64>(tensor)?),
    })
}

/// The number as an element of the dtype has it: without its fraction if the dtype is integral, and 0 or 1 if it is bool.
///
/// ```
/// use dispatch_runtime::{DType, Scalar};
/// assert_eq!(aten::number_in(DType::I64, Scalar::Float(-1.5)), Scalar::Int(-1));
/// assert_eq!(aten::number_in(DType::Bool, Scalar::Float(-1.5)), Scalar::Int(1));
/// ```
#[must_use]
pub fn number_in(dtype: DType, number: Scalar) -> Scalar {
    match dtype {
        DType::Bool => Scalar::Int(i64::from(number.to_f64() != Some(0.0))),
        dtype if dtype.is_integral() => Scalar::Int(crate::sequence::integer(number)),
        _ => number,
    }
}

/// Refuses numbers that a dtype does not hold.
///
/// ```
/// use dispatch_runtime::DType;
/// assert!(aten::check_numbers(DType::I8, [("min", 1.into()), ("max", 200.into())]).is_err());
/// ```
///
/// # Errors
///
/// Returns [`BadArgument`] for the first of them.
pub fn check_numbers<const N: usize>(dtype: DType, numbers: [(&'static str, Scalar); N]) -> Result<(), BadArgument> {
    numbers.into_iter().try_for_each(|(argument, number)| number.check_fits(argument, dtype))
}

/// Refuses numbers that do not fit what is computed in for a dtype: single precision for halves.
///
/// ```
/// use dispatch_runtime::DType;
/// assert!(aten::check_factors(DType::F16, [("alpha", 1e5.into())]).is_ok());
/// assert!(aten::check_factors(DType::F32, [("alpha", 1e50.into())]).is_err());
/// ```
///
/// # Errors
///
/// Returns [`BadArgument`] for the first of them.
pub fn check_factors<const N: usize>(dtype: DType, numbers: [(&'static str, Scalar); N]) -> Result<(), BadArgument> {
    let computed = if matches!(dtype, DType::F16 | DType::BF16) { DType::F32 } else { dtype };
    check_numbers(computed, numbers)
}

/// Refuses a number for the elements of a tensor that do not hold it. A half by itself becomes infinite, as a cast makes it.
///
/// ```
/// use dispatch_runtime::DType;
/// assert!(aten::check_filling("fill_value", 1e5.into(), DType::F16, 2).is_err());
/// assert!(aten::check_filling("fill_value", 1e5.into(), DType::F16, 1).is_ok());
/// ```
///
/// # Errors
///
/// Returns [`BadArgument`] if it does not fit.
pub fn check_filling(argument: &'static str, number: Scalar, dtype: DType, count: i64) -> Result<(), BadArgument> {
    let is_half = matches!(dtype, DType::F16 | DType::BF16);
    number.check_fits(argument, if is_half && count == 1 { DType::F64 } else { dtype })
}

macro_rules! checks {
    ($($(#[$doc:meta])* $name:ident($($tensor:ident),+; $($number:ident),+ $(; $rest:ty)?) $check:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// # Errors
        ///
        /// Returns [`BadArgument`] if it does not hold a number.
        pub fn $name($($tensor: &Tensor,)+ $($number: Scalar,)+ $(_: $rest)?) -> Result<()> {
            Ok($check(result_dtype([$($tensor),+]), [$((stringify!($number), $number)),+])?)
        }
    )*};
}

checks! {
    /// Whether what is computed in holds the numbers of [`leaky_relu`](crate::leaky_relu).
    ///
    /// ```
    /// use dispatch_runtime::Tensor;
    /// assert!(aten::check_leaky_relu(&Tensor::from_slice(&[1.0_f32]), 1e50.into()).is_err());
    /// ```
    check_leaky_relu(this; negative_slope) check_factors;
    /// Whether what is computed in holds the numbers of [`leaky_relu_backward`](crate::leaky_relu_backward).
    ///
    /// ```
    /// let x = dispatch_runtime::Tensor::from_slice(&[1.0_f32]);
    /// assert!(aten::check_leaky_relu_backward(&x, &x, 1e50.into(), false).is_err());
    /// ```
    check_leaky_relu_backward(grad_output, this; negative_slope; bool) check_factors;
    /// Whether what is computed in holds the numbers of [`elu`](crate::elu).
    ///
    /// ```
    /// let x = dispatch_runtime::Tensor::from_slice(&[1.0_f32]);
    /// assert!(aten::check_elu(&x, 1.into(), 1e50.into(), 1.into()).is_err());
    /// ```
    check_elu(this; alpha, scale, input_scale) check_factors;
    /// Whether what is computed in holds the numbers of [`softplus`](crate::softplus).
    ///
    /// ```
    /// let x = dispatch_runtime::Tensor::from_slice(&[1.0_f32]);
    /// assert!(aten::check_softplus(&x, 1.into(), 1e50.into()).is_err());
    /// ```
    check_softplus(this; beta, threshold) check_factors;
    /// Whether what is computed in holds the numbers of [`softplus_backward`](crate::softplus_backward).
    ///
    /// ```
    /// let x = dispatch_runtime::Tensor::from_slice(&[1.0_f32]);
    /// assert!(aten::check_softplus_backward(&x, &x, 1.into(), 1e50.into()).is_err());
    /// ```
    check_softplus_backward(grad_output, this; beta, threshold) check_factors;
    /// Whether what is computed in holds the numbers of [`hardtanh_backward`](crate::hardtanh_backward).
    ///
    /// ```
    /// let x = dispatch_runtime::Tensor::from_slice(&[1.0_f32]);
    /// assert!(aten::check_hardtanh_backward(&x, &x, 0.into(), 1e50.into()).is_err());
    /// ```
    check_hardtanh_backward(grad_output, this; min_val, max_val) check_factors;
    /// Whether what is computed in holds the number of [`threshold_backward`](crate::threshold_backward).
    ///
    /// ```
    /// let x = dispatch_runtime::Tensor::from_slice(&[1_u8]);
    /// assert!(aten::check_threshold_backward(&x, &x, 300.into()).is_err());
    /// ```
    check_threshold_backward(grad_output, this; threshold) check_factors;
    /// Whether elements hold the number of [`hardshrink`](crate::hardshrink).
    ///
    /// ```
    /// let x = dispatch_runtime::Tensor::from_slice(&[1.0_f32]);
    /// assert!(aten::check_hardshrink(&x, 1e50.into()).is_err());
    /// ```
    check_hardshrink(this; lambd) check_numbers;
    /// Whether elements hold the number of [`hardshrink_backward`](crate::hardshrink_backward) and of
    /// [`softshrink_backward`](crate::softshrink_backward).
    ///
    /// ```
    /// let x = dispatch_runtime::Tensor::from_slice(&[1.0_f32]);
    /// assert!(aten::check_shrink_backward(&x, &x, 1e50.into()).is_err());
    /// ```
    check_shrink_backward(grad, this; lambd) check_numbers;
    /// Whether what is computed in holds the number of [`addcmul`](crate::addcmul) and of [`addcdiv`](crate::addcdiv).
    ///
    /// ```
    /// let x = dispatch_runtime::Tensor::from_slice(&[1.0_f32]);
    /// assert!(aten::check_addcmul(&x, &x, &x, 1e50.into()).is_err());
    /// ```
    check_addcmul(this, tensor1, tensor2; value) check_factors;
}

/// Refuses a width of [`softshrink`](crate::softshrink) that is negative, or that elements do not hold.
///
/// ```
/// let x = dispatch_runtime::Tensor::from_slice(&[1.0_f32]);
/// assert!(aten::check_softshrink(&x, (-1).into()).is_err());
/// ```
///
/// # Errors
///
/// Returns [`BadArgument`] for such a width.
pub fn check_softshrink(this: &Tensor, lambd: Scalar) -> Result<()> {
    crate::check_width("lambd", lambd.to_f64().unwrap_or(f64::NAN), 0.0)?;
    check_hardshrink(this, lambd)
}

/// Refuses a `threshold` that what is computed in does not hold, and a `value` that elements do not hold.
///
/// ```
/// let x = dispatch_runtime::Tensor::from_slice(&[1_u8]);
/// assert!(aten::check_threshold(&x, 3.into(), 300.into()).is_err());
/// ```
///
/// # Errors
///
/// Returns [`BadArgument`] for such a number.
pub fn check_threshold(this: &Tensor, threshold: Scalar, value: Scalar) -> Result<()> {
    check_factors(this.dtype(), [("threshold", threshold)])?;
    Ok(check_numbers(this.dtype(), [("value", value)])?)
}

/// Refuses bounds of [`hardtanh`](crate::hardtanh) that elements do not hold. Integers are bounded by any that is beyond their own bound
/// on the same side.
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
            Ok(Scalar::Int(crate::sequence::integer(number)))
        }
        other => Ok::<_, BadArgument>(other),
    };
    check_bounds(
        this.dtype(),
        ("min_val", Some(bound("min_val", min_val)?)),
        ("max_val", Some(bound("max_val", max_val)?)),
    )?;
    Ok(())
}

/// Refuses bounds that elements do not hold. Integers are bounded by an integer beyond their own bound on the same side, too.
pub(crate) fn check_bounds(
    dtype: DType,
    (min_name, min): (&'static str, Option<Scalar>),
    (max_name, max): (&'static str, Option<Scalar>),
) -> Result<(), BadArgument> {
    let holds = |number: Scalar, is_min: bool| match (number, dtype.integers()) {
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
        if let Some(number) = number.filter(|number| !holds(*number, is_min)) {
            return Err(BadArgument::overflow(argument, number, dtype));
        }
    }
    Ok(())
}
