//! Arguments in generated code: the types that a kernel takes, and the types that a caller may pass.

use num_complex::Complex64;

use crate::scalar::Scalar;

/// A type in which a kernel may take an argument that the operator passes as a `T`: only `T` itself. Arguments are counted from 1.
#[diagnostic::on_unimplemented(
    message = "argument {I} of operator `{O}` is passed as `{T}`, but the kernel takes `{Self}`",
    label = "write `{T}`"
)]
pub trait KernelParameter<O, const I: usize, T> {
    /// Returns the argument in the kernel's type.
    fn convert(argument: T) -> Self;
}

impl<O, const I: usize, T> KernelParameter<O, I, T> for T {
    #[inline(always)]
    fn convert(argument: T) -> Self {
        argument
    }
}

/// A type that a named call may pass for an optional `T`: a `T`, or an option of one. An optional scalar is also given as a number.
#[diagnostic::on_unimplemented(
    message = "this argument is an optional `{T}`, not `{Self}`",
    label = "write a `{T}`, or `Some(..)` or `None`"
)]
pub trait OptionalArgument<T> {
    /// Returns the argument as an option.
    fn into_option(self) -> Option<T>;
}

#[diagnostic::do_not_recommend]
impl<T> OptionalArgument<T> for T {
    #[inline]
    fn into_option(self) -> Option<T> {
        Some(self)
    }
}

#[diagnostic::do_not_recommend]
impl<T> OptionalArgument<T> for Option<T> {
    #[inline]
    fn into_option(self) -> Self {
        self
    }
}

#[diagnostic::do_not_recommend]
impl<'a, T> OptionalArgument<&'a [T]> for &'a Vec<T> {
    #[inline]
    fn into_option(self) -> Option<&'a [T]> {
        Some(self)
    }
}

#[diagnostic::do_not_recommend]
impl<'a, T, const N: usize> OptionalArgument<&'a [T]> for &'a [T; N] {
    #[inline]
    fn into_option(self) -> Option<&'a [T]> {
        Some(self)
    }
}

macro_rules! impl_optional_scalar {
    ($($number:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        impl OptionalArgument<Scalar> for $number {
            #[inline]
            fn into_option(self) -> Option<Scalar> {
                Some(self.into())
            }
        }
    )*};
}

impl_optional_scalar!(bool, i32, i64, f32, f64, Complex64);
