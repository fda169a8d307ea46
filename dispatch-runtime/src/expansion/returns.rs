//! The results of generated code: a value or a `Result`, and the errors of kernels and forms.
//!
//! Not public API.

use crate::error::{Error, Result};
use crate::operator::{Operation, Operator};

/// What a kernel may return: the operator's result, alone or with an error of any type.
///
/// The parameter names the operator, so that the compiler's message can.
#[diagnostic::on_unimplemented(
    message = "a kernel of operator `{O}` must return `{T}` or `Result<{T}>`, found `{Self}`",
    label = "expected `{T}` or `Result<{T}>`"
)]
pub trait Returns<O, T> {
    /// The result.
    fn returned(self) -> Result<T>;
}

impl<O, T> Returns<O, T> for T {
    #[inline(always)]
    fn returned(self) -> Result<T> {
        Ok(self)
    }
}

impl<O: Operation, T, E: KernelError<O>> Returns<O, T> for Result<T, E> {
    #[inline(always)]
    fn returned(self) -> Result<T> {
        match self {
            Ok(value) => Ok(value),
            Err(error) => Err(failed::<O>(error.into())),
        }
    }
}

/// The error of a kernel: whatever a `?` turns into the runtime's.
#[diagnostic::on_unimplemented(
    message = "a kernel of operator `{O}` fails with `{Self}`, which does not turn into `dispatch_runtime::Error`",
    label = "turn it into one: `.map_err(Error::kernel)`"
)]
pub trait KernelError<O>: Into<Error> {}

#[diagnostic::do_not_recommend]
impl<O, E: Into<Error>> KernelError<O> for E {}

/// An error in the name of this operator.
#[cold]
#[inline(never)]
#[must_use]
pub fn failed<O: Operation>(error: Error) -> Error {
    error.in_operator(O::operator().name())
}

/// The error of a composite: what its own check says of the arguments, or else the error of its body.
#[cold]
#[inline(never)]
#[must_use]
pub fn explained(operator: &Operator, of_body: Error, check: Result<()>) -> Error {
    check.map_or_else(|own| own.in_operator(operator.name()), |()| of_body)
}

/// The error of an operator that is a call of `callee`; see `Error::in_call`.
#[cold]
#[inline(never)]
#[must_use]
pub fn in_call(error: Error, callee: &Operator, operator: &Operator, names: &[&'static str]) -> Error {
    error.in_call(callee, operator, names)
}

/// An error of operator `O` in a call of its form `F`, whose first output has this name.
#[cold]
pub fn in_form<O: Operation, F: Operation>(output: &'static str) -> impl FnOnce(Error) -> Error {
    move |error| error.in_form(O::operator().name(), F::operator(), output)
}
