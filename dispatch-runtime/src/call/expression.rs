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
pub fn borrow_operand<T: BorrowedOperand>(place: &T) -> T::Operand<'_> {
    place.borrow_operand()
}

/// Returns the value of an operand that is a call or an inner operation, or its error.
#[inline]
pub fn unwrap_operand<T: ComputedOperand>(value: T) -> Result<T::Operand> {
    value.unwrap_operand()
}

/// A variable, field or element that is an operand of `expr!`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no operand of `expr!`",
    label = "neither a tensor nor a number",
    note = "write `?` after a call that returns a `Result`, where its value is stored"
)]
pub trait BorrowedOperand {
    /// A reference to the tensor, or the number.
    type Operand<'a>
    where
        Self: 'a;

    /// Returns a reference to the tensor, or the number.
    fn borrow_operand(&self) -> Self::Operand<'_>;
}

/// A computed value that is an operand of `expr!`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no operand of `expr!`",
    label = "neither a tensor, nor a number, nor a `Result` of these"
)]
pub trait ComputedOperand {
    /// The tensor, reference or number.
    type Operand;

    /// Returns the tensor, reference or number, or the error instead of it.
    fn unwrap_operand(self) -> Result<Self::Operand>;
}

impl<T: ComputedOperand> ComputedOperand for Result<T> {
    type Operand = T::Operand;

    #[inline]
    fn unwrap_operand(self) -> Result<T::Operand> {
        self?.unwrap_operand()
    }
}

impl BorrowedOperand for Tensor {
    type Operand<'a> = &'a Self;

    #[inline]
    fn borrow_operand(&self) -> &Self {
        self
    }
}

macro_rules! impl_for_references {
    ($($reference:ty)*) => {$(
        impl BorrowedOperand for $reference {
            type Operand<'a>
                = &'a Tensor
            where
                Self: 'a;

            #[inline]
            fn borrow_operand(&self) -> &Tensor {
                self
            }
        }
    )*};
}

impl_for_references! { &Tensor &mut Tensor }

macro_rules! impl_for_values {
    ($($value:ty)*) => {$(
        impl ComputedOperand for $value {
            type Operand = Self;

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
        impl BorrowedOperand for $number {
            type Operand<'a> = Self;

            #[inline]
            fn borrow_operand(&self) -> Self {
                *self
            }
        }

        impl BorrowedOperand for &$number {
            type Operand<'a>
                = $number
            where
                Self: 'a;

            #[inline]
            fn borrow_operand(&self) -> $number {
                **self
            }
        }
    )*};
}

impl_for_numbers! { bool i32 i64 f32 f64 Complex64 Scalar }
