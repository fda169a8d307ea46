//! Results in generated code: a value or a `Result`, and the errors of kernels and forms.
//!
//! Not public API.

use crate::error::{Error, Result};
use crate::operator::{Operation, Operator};

/// A type that a kernel may return: the operator's result, alone or in a `Result` with any error type.
///
/// The parameter `O` is the operator, so that the compiler's message can name it.
#[diagnostic::on_unimplemented(
    message = "a kernel of operator `{O}` must return `{T}` or `Result<{T}>`, found `{Self}`",
    label = "expected `{T}` or `Result<{T}>`"
)]
pub trait Returns<O, T> {
    /// Returns the kernel's result as a `Result`.
    fn into_result(self) -> Result<T>;
}

impl<O, T> Returns<O, T> for T {
    #[inline(always)]
    fn into_result(self) -> Result<T> {
        Ok(self)
    }
}

impl<O: Operation, T, E: KernelError<O>> Returns<O, T> for Result<T, E> {
    #[inline(always)]
    fn into_result(self) -> Result<T> {
        match self {
            Ok(value) => Ok(value),
            Err(error) => Err(error_in_operator::<O>(error.into())),
        }
    }
}

/// An error type of kernels: any type that `?` converts to the runtime's error.
#[diagnostic::on_unimplemented(
    message = "a kernel of operator `{O}` returns an error of type `{Self}`, which does not convert to `dispatch_runtime::Error`",
    label = "convert it: `.map_err(Error::kernel)`"
)]
pub trait KernelError<O>: Into<Error> {}

#[diagnostic::do_not_recommend]
impl<O, E: Into<Error>> KernelError<O> for E {}

/// Adds this operator's name to an error.
#[cold]
#[inline(never)]
#[must_use]
pub fn error_in_operator<O: Operation>(error: Error) -> Error {
    error.in_operator(O::operator().name())
}

/// Returns the error of a composite: the error of its own check if the check rejects the arguments, or else the error of its body.
#[cold]
#[inline(never)]
#[must_use]
pub fn check_or_body_error(operator: &Operator, of_body: Error, check: Result<()>) -> Error {
    check.map_or_else(|own| own.in_operator(operator.name()), |()| of_body)
}

/// Changes an error of `callee` into one of `operator`, whose body calls `callee`; see `Error::into_caller_error`.
#[cold]
#[inline(never)]
#[must_use]
pub fn into_caller_error(error: Error, callee: &Operator, operator: &Operator, names: &[&'static str]) -> Error {
    error.into_caller_error(callee, operator, names)
}

/// Changes an error of operator `O` into one of its form `F`, whose first output has this name.
#[cold]
pub fn into_form_error<O: Operation, F: Operation>(output: &'static str) -> impl FnOnce(Error) -> Error {
    move |error| error.into_form_error(O::operator().name(), F::operator(), output)
}
