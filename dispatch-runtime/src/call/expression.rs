//! The operands of `expr!`, which unites tensors, references, numbers and results.

use num_complex::Complex64;

use crate::error::Result;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// Runs the code of an `expr!`, in which `?` ends the expression and not the function around it.
#[inline]
pub fn evaluate(expression: impl FnOnce() -> Result<Tensor>) -> Result<Tensor> {
    expression()
}

/// Borrows an operand that is a variable, a field or an element of a list.
#[inline]
pub fn borrow_operand<'a, T: BorrowedOperand<'a, O>, O>(place: &'a T) -> O {
    place.borrow_operand()
}

/// Returns the value of an operand that is a call or an inner operation, or its error.
#[inline]
pub fn unwrap_operand<T: ComputedOperand<O>, O>(value: T) -> Result<O> {
    value.unwrap_operand()
}

/// A variable, field or element that is an operand of `expr!`. `O` is a reference to the tensor, or the number.
///
/// `O` is no associated type, because a type without this trait would be reported a second time for it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no operand of `expr!`",
    label = "neither a tensor nor a number",
    note = "write `?` after a call that returns a `Result`, where its value is stored"
)]
pub trait BorrowedOperand<'a, O> {
    /// Returns a reference to the tensor, or the number.
    fn borrow_operand(&'a self) -> O;
}

/// A computed value that is an operand of `expr!`. `O` is the tensor, reference or number.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no operand of `expr!`",
    label = "neither a tensor, nor a number, nor a `Result` of these"
)]
pub trait ComputedOperand<O> {
    /// Returns the tensor, reference or number, or the error instead of it.
    fn unwrap_operand(self) -> Result<O>;
}

impl<T: ComputedOperand<O>, O> ComputedOperand<O> for Result<T> {
    #[inline]
    fn unwrap_operand(self) -> Result<O> {
        self?.unwrap_operand()
    }
}

macro_rules! impl_for_places {
    ($($place:ty)*) => {$(
        impl<'a> BorrowedOperand<'a, &'a Tensor> for $place {
            #[inline]
            fn borrow_operand(&'a self) -> &'a Tensor {
                self
            }
        }
    )*};
}

impl_for_places! { Tensor &Tensor &mut Tensor }

macro_rules! impl_for_values {
    ($($value:ty)*) => {$(
        impl ComputedOperand<Self> for $value {
            #[inline]
            fn unwrap_operand(self) -> Result<Self> {
                Ok(self)
            }
        }
    )*};
}

impl_for_values! { Tensor &Tensor bool i32 i64 f32 f64 Complex64 Scalar }

macro_rules! impl_for_numbers {
    ($($number:ty)*) => {$(
        impl BorrowedOperand<'_, Self> for $number {
            #[inline]
            fn borrow_operand(&self) -> Self {
                *self
            }
        }

        impl BorrowedOperand<'_, $number> for &$number {
            #[inline]
            fn borrow_operand(&self) -> $number {
                **self
            }
        }
    )*};
}

impl_for_numbers! { bool i32 i64 f32 f64 Complex64 Scalar }
