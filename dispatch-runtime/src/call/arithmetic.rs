//! Rust's arithmetic operators, such as `+`, for tensors.
//!
//! The runtime knows no operator, so `&a + &b` calls the operator that implements `Add` by `#[op_def(.., operator = Add)]`.

use std::ops;

use num_complex::Complex64;

use crate::error::{ErrorKind, Result};
use crate::registration::{RustOperatorFn, rust_operator_impl};
use crate::rust_operator::RustOperator;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

fn no_rust_operator_impl_error(rust_operator: RustOperator) -> Result<Tensor> {
    Err(ErrorKind::NoRustOperatorImpl { rust_operator }.into())
}

/// An operand beside a tensor in an expression such as `a + b`: another tensor, or a number.
///
/// A number does not determine the precision: `x + 1.5` has the dtype of `x` if that is floating.
///
/// ```
/// use dispatch_runtime::prelude::*;
///
/// #[op_def("twice_sum(Tensor self, Tensor other) -> Tensor", operator = Add)]
/// pub fn twice_sum(this: &Tensor, other: &Tensor) -> Result<Tensor>;
///
/// #[op_impl(twice_sum, CPU)]
/// fn twice_sum_cpu(this: &Tensor, other: &Tensor) -> Result<Tensor> {
///     Ok(Tensor::from(2.0 * (this.read::<f64>()?[0] + other.read::<f64>()?[0])))
/// }
///
/// # fn main() -> Result<()> {
/// let x = Tensor::from(1.5);
/// assert_eq!((&x + &x)?.to_vec::<f64>()?, [6.0]);
/// assert_eq!(((&x + 1.0)? + 2.5)?.to_vec::<f64>()?, [15.0]);
/// assert_eq!((1.0 + &x)?.to_vec::<f64>()?, [5.0]);
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an operand of arithmetic with tensors",
    label = "write a tensor, or a number: `i32`, `i64`, `f32`, `f64`, `bool`, `Complex64` or a `Scalar`",
    note = "a call that computes a tensor returns a `Result`; write `?` after it to get the tensor"
)]
#[doc(alias = "add")]
#[doc(alias = "sub")]
#[doc(alias = "mul")]
#[doc(alias = "div")]
#[doc(alias = "neg")]
pub trait ArithmeticOperand: Sized {
    /// Calls `compute` with the operand as a tensor.
    fn call_with_tensor<R>(self, compute: impl FnOnce(&Tensor) -> R) -> R;
}

impl ArithmeticOperand for &Tensor {
    #[inline]
    fn call_with_tensor<R>(self, compute: impl FnOnce(&Tensor) -> R) -> R {
        compute(self)
    }
}

impl ArithmeticOperand for Tensor {
    #[inline]
    fn call_with_tensor<R>(self, compute: impl FnOnce(&Self) -> R) -> R {
        compute(&self)
    }
}

macro_rules! impl_operand_for_numbers {
    ($($ty:ty)*) => {$(
        impl ArithmeticOperand for $ty {
            #[inline]
            fn call_with_tensor<R>(self, compute: impl FnOnce(&Tensor) -> R) -> R {
                compute(&Tensor::number(self.into()))
            }
        }
    )*};
}

impl_operand_for_numbers! { bool i32 i64 f32 f64 Complex64 Scalar }

fn call_binary_operator(rust_operator: RustOperator, a: &Tensor, b: &Tensor) -> Result<Tensor> {
    match rust_operator_impl(rust_operator).map(|implementation| implementation.call) {
        Some(RustOperatorFn::Binary(call)) => call(a, b),
        _ => no_rust_operator_impl_error(rust_operator),
    }
}

fn call_unary_operator(rust_operator: RustOperator, a: &Tensor) -> Result<Tensor> {
    match rust_operator_impl(rust_operator).map(|implementation| implementation.call) {
        Some(RustOperatorFn::Unary(call)) => call(a),
        _ => no_rust_operator_impl_error(rust_operator),
    }
}

macro_rules! impl_binary_operator {
    ($($name:ident $method:ident)*) => {$(
        impl<T: ArithmeticOperand> ops::$name<T> for &Tensor {
            type Output = Result<Tensor>;

            fn $method(self, other: T) -> Result<Tensor> {
                other.call_with_tensor(|other| call_binary_operator(RustOperator::$name, self, other))
            }
        }

        impl<T: ArithmeticOperand> ops::$name<T> for Tensor {
            type Output = Result<Tensor>;

            fn $method(self, other: T) -> Result<Tensor> {
                ops::$name::$method(&self, other)
            }
        }

        // One type for each kind of literal, so that `2.0 * &x` is inferred.
        impl_binary_operator! { $name $method: i64 f64 Complex64 Scalar }
    )*};
    ($name:ident $method:ident: $($number:ty)*) => {$(
        impl ops::$name<&Tensor> for $number {
            type Output = Result<Tensor>;

            fn $method(self, other: &Tensor) -> Result<Tensor> {
                call_binary_operator(RustOperator::$name, &Tensor::number(self.into()), other)
            }
        }

        impl ops::$name<Tensor> for $number {
            type Output = Result<Tensor>;

            fn $method(self, other: Tensor) -> Result<Tensor> {
                ops::$name::$method(self, &other)
            }
        }
    )*};
}

macro_rules! impl_unary_operator {
    ($($name:ident $method:ident)*) => {$(
        impl ops::$name for &Tensor {
            type Output = Result<Tensor>;

            fn $method(self) -> Result<Tensor> {
                call_unary_operator(RustOperator::$name, self)
            }
        }

        impl ops::$name for Tensor {
            type Output = Result<Tensor>;

            fn $method(self) -> Result<Tensor> {
                call_unary_operator(RustOperator::$name, &self)
            }
        }
    )*};
}

impl_binary_operator! { Add add Sub sub Mul mul Div div Rem rem BitAnd bitand BitOr bitor BitXor bitxor Shl shl Shr shr }
impl_unary_operator! { Neg neg Not not }
