//! Type promotion: the dtype of a computation with several operands.
//!
//! Operands have three priorities: tensors with dimensions, tensors without dimensions, and plain numbers. A lower priority changes the
//! dtype only if its category (bool, integral, floating, complex) is higher than that of all priorities above it. So `x * 2.0` keeps the
//! precision of `x`.

use crate::scalar::{DType, DTypeCategory};
use crate::tensor::Tensor;

/// The default floating dtype, for computations in which no tensor decides.
pub(crate) const DEFAULT_FLOATING_DTYPE: DType = DType::F32;

impl DType {
    /// Returns the dtype that both promote to: of the higher category, and of the larger size within a category. A float8 dtype promotes with
    /// no other: the result is the float8 dtype, so operators refuse the call.
    ///
    /// ```
    /// use dispatch_runtime::DType;
    /// assert_eq!(DType::U8.promote(DType::I8), DType::I16);
    /// assert_eq!(DType::I64.promote(DType::F16), DType::F16);
    /// assert_eq!(DType::F16.promote(DType::BF16), DType::F32);
    /// ```
    #[must_use]
    pub fn promote(self, other: Self) -> Self {
        use DType::{BF16, Bool, C64, C128, F16, F32, F64, I8, I16, U8};
        match (self, other) {
            _ if self == other => self,
            _ if self.is_float8() || other.is_float8() => {
                if self > other {
                    self
                } else {
                    other
                }
            }
            (Bool, dtype) | (dtype, Bool) => dtype,
            (C128, _) | (_, C128) | (C64, F64) | (F64, C64) => C128,
            (C64, _) | (_, C64) => C64,
            (F64, _) | (_, F64) => F64,
            (F32, _) | (_, F32) | (F16, BF16) | (BF16, F16) => F32,
            (F16 | BF16, _) => self,
            (_, F16 | BF16) => other,
            (U8, I8) | (I8, U8) => I16,
            _ if self.size() >= other.size() => self,
            _ => other,
        }
    }

    /// Returns this dtype if it is floating or complex, and the default floating dtype otherwise.
    ///
    /// ```
    /// use dispatch_runtime::DType;
    /// assert_eq!((DType::I64.to_floating(), DType::BF16.to_floating()), (DType::F32, DType::BF16));
    /// ```
    #[must_use]
    pub fn to_floating(self) -> Self {
        if self.is_floating() || self.is_complex() { self } else { DEFAULT_FLOATING_DTYPE }
    }

    /// Returns the complex dtype for this dtype: complex128 for double precision, and complex64 for all others.
    ///
    /// ```
    /// use dispatch_runtime::DType;
    /// assert_eq!(DType::F64.to_complex(), DType::C128);
    /// ```
    #[must_use]
    pub fn to_complex(self) -> Self {
        match self {
            Self::F64 | Self::C128 => Self::C128,
            _ => Self::C64,
        }
    }

    /// Returns the dtype of the real and imaginary parts if this dtype is complex, and this dtype otherwise.
    ///
    /// ```
    /// use dispatch_runtime::DType;
    /// assert_eq!((DType::C64.to_real(), DType::I32.to_real()), (DType::F32, DType::I32));
    /// ```
    #[must_use]
    pub const fn to_real(self) -> Self {
        match self {
            Self::C64 => Self::F32,
            Self::C128 => Self::F64,
            real => real,
        }
    }

    /// Returns whether elements of `self` may be stored as `other`: the category of `other` is the same or a higher one (bool, integral,
    /// floating, complex).
    ///
    /// ```
    /// use dispatch_runtime::DType;
    /// assert!(DType::F64.can_cast(DType::F16) && !DType::F32.can_cast(DType::I64));
    /// ```
    #[must_use]
    pub fn can_cast(self, other: Self) -> bool {
        self.category() <= other.category()
    }
}

/// Returns the dtype of a computation with these tensors, or the default dtype if there are none.
///
/// ```
/// use dispatch_runtime::{DType, Tensor, result_dtype};
/// let (half, two) = (Tensor::from_slice(&[dispatch_runtime::f16::ONE]), Tensor::number(2.0.into()));
/// assert_eq!(result_dtype([&half, &two]), DType::F16);
/// assert_eq!(result_dtype([&Tensor::from_slice(&[1_i32]), &two]), DType::F32);
/// ```
#[must_use]
pub fn result_dtype<'a>(operands: impl IntoIterator<Item = &'a Tensor>) -> DType {
    let mut state = PromotionState::default();
    for operand in operands {
        state.add_tensor(operand);
    }
    state.result_dtype()
}

/// Returns the dtype of a computation with two tensors, which mostly have the same dtype.
#[inline]
pub(crate) fn result_dtype_of_two(a: &Tensor, b: &Tensor) -> DType {
    if a.dtype() == b.dtype() && !a.is_number() { a.dtype() } else { result_dtype([a, b]) }
}

/// The dtypes that the operands so far promote to, one for each priority.
#[derive(Clone, Copy, Default)]
pub(crate) struct PromotionState {
    dimensioned: Option<DType>,
    zero_dim: Option<DType>,
    number: Option<DType>,
}

impl PromotionState {
    pub(crate) fn add_tensor(&mut self, operand: &Tensor) {
        let dtype = operand.dtype();
        if operand.is_number() {
            self.add_number(dtype);
        } else if operand.geometry().rank() == 0 {
            promote_into(&mut self.zero_dim, dtype);
        } else {
            promote_into(&mut self.dimensioned, dtype);
        }
    }

    pub(crate) fn add_number(&mut self, dtype: DType) {
        let dtype = match dtype {
            _ if dtype.is_complex() => DEFAULT_FLOATING_DTYPE.to_complex(),
            _ if dtype.is_floating() => DEFAULT_FLOATING_DTYPE,
            _ => dtype,
        };
        promote_into(&mut self.number, dtype);
    }

    pub(crate) fn result_dtype(self) -> DType {
        let lower = promote_by_priority(self.zero_dim, self.number);
        promote_by_priority(self.dimensioned, lower).unwrap_or(DEFAULT_FLOATING_DTYPE)
    }
}

fn promote_into(all: &mut Option<DType>, one: DType) {
    *all = Some(all.map_or(one, |all| all.promote(one)));
}

fn promote_by_priority(higher: Option<DType>, lower: Option<DType>) -> Option<DType> {
    let (Some(high), Some(low)) = (higher, lower) else { return higher.or(lower) };
    Some(match high.category() {
        DTypeCategory::Floating if low.is_complex() => high.to_complex(),
        DTypeCategory::Boolean => high.promote(low),
        DTypeCategory::Integral if low.category() >= DTypeCategory::Floating => high.promote(low),
        _ => high,
    })
}

/// A promotion rule: the dtype in which an operator computes, and the dtype of its result.
///
/// ```
/// use dispatch_runtime::{DType, Promotion, Tensor};
/// let ints = Tensor::from_slice(&[1_i64]);
/// assert_eq!(Promotion::Float.result_dtype(&[&ints]), DType::F32);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Promotion {
    /// The dtype that all operands promote to.
    Common,
    /// The dtype that all operands promote to, or the default floating dtype if that one is not floating or complex.
    Float,
    /// The dtype of the first operand.
    First,
    /// The dtype that all operands promote to or, if it is complex, the dtype of its real and imaginary parts.
    Real,
    /// The dtype that all operands promote to, but int64 for integers and booleans.
    Sum,
    /// The result is bool, and the operator computes in the dtype that all operands promote to.
    Bool,
    /// The result has int64 indices, and the operator computes in the dtype that all operands promote to.
    Index,
}

impl Promotion {
    /// Returns the dtype of the result of a call with these operands.
    #[must_use]
    #[inline]
    pub fn result_dtype(self, operands: &[&Tensor]) -> DType {
        self.result_dtype_from(self.computation_dtype(operands))
    }

    /// Returns the dtype of the result of a computation in dtype `computed`.
    #[must_use]
    #[inline]
    pub const fn result_dtype_from(self, computed: DType) -> DType {
        match self {
            Self::Bool => DType::Bool,
            Self::Index => DType::I64,
            Self::Real => computed.to_real(),
            _ => computed,
        }
    }

    /// Returns the dtype in which an operator computes with these operands.
    #[must_use]
    #[inline]
    pub fn computation_dtype(self, operands: &[&Tensor]) -> DType {
        let common = match (self, operands) {
            (_, [one]) | (Self::First, [one, ..]) => one.dtype(),
            (_, [a, b]) => result_dtype_of_two(a, b),
            _ => {
                let mut state = PromotionState::default();
                for operand in operands {
                    state.add_tensor(operand);
                }
                state.result_dtype()
            }
        };
        match self {
            Self::Float => common.to_floating(),
            Self::Sum if common.is_integral() || common == DType::Bool => DType::I64,
            _ => common,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn dtype_strategy() -> impl Strategy<Value = DType> {
        prop::sample::select(DType::ALL.to_vec())
    }

    proptest! {
        #[test]
        fn promotion_is_symmetric_and_accepts_both_dtypes(a in dtype_strategy(), b in dtype_strategy()) {
            prop_assert_eq!(a.promote(b), b.promote(a));
            let is_castable = a.can_cast(a.promote(b)) && b.can_cast(a.promote(b));
            prop_assert!(is_castable || a.promote(b).is_float8());
            prop_assert_eq!(a.promote(b).promote(a), a.promote(b));
        }
    }

    #[test]
    fn a_tensor_without_dimensions_changes_only_the_category() {
        let double = Tensor::from_slice(&[1.0_f64]).restride(crate::Geometry::contiguous(&[])).unwrap();
        assert_eq!(result_dtype([&Tensor::from_slice(&[1.0_f32]), &double]), DType::F32);
        assert_eq!(result_dtype([&Tensor::from_slice(&[1_u8]), &double]), DType::F64);
        assert_eq!(result_dtype([&double, &Tensor::number(1.into())]), DType::F64);
    }

    #[test]
    fn numbers_alone_have_the_default_dtype_of_their_category() {
        assert_eq!(result_dtype([&Tensor::number(1.5.into()), &Tensor::number(2.5.into())]), DType::F32);
        assert_eq!(result_dtype([&Tensor::number(1.into()), &Tensor::number(true.into())]), DType::I64);
        assert_eq!(result_dtype([]), DType::F32);
    }
}
