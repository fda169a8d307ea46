//! Traits by which the compiler checks the type of a plan, and of a kernel that takes one.

use super::{Plan, PlanList};
use crate::error::{Error, Result};
use crate::operator::Operation;

/// A return type of the plan of an operator with `N` results.
#[diagnostic::on_unimplemented(
    message = "the plan of operator `{O}` describes {N} results: write `Result<Plan<.., {N}>>`, not `{Self}`",
    label = "not a plan of {N} results"
)]
pub trait ReturnsPlan<O, const N: usize> {
    /// The type of the plan's value, which kernels receive.
    type Value;

    /// Converts the return value of the plan function to a plan or an error.
    fn into_plan(self) -> Result<Plan<Self::Value, N>>;
}

impl<O: Operation, V, E: Into<Error>, const N: usize> ReturnsPlan<O, N> for Result<Plan<V, N>, E> {
    type Value = V;

    #[inline(always)]
    fn into_plan(self) -> Result<Plan<V, N>> {
        match self {
            Ok(plan) => Ok(plan),
            Err(error) => Err(error.into()),
        }
    }
}

/// A return type of the plan of an operator with a list of results.
#[diagnostic::on_unimplemented(
    message = "the plan of operator `{O}` describes a list of results: write `Result<PlanList<..>>`, not `{Self}`",
    label = "not a plan of a list"
)]
pub trait ReturnsPlanList<O> {
    /// The type of the plan's value, which kernels receive.
    type Value;

    /// Converts the return value of the plan function to a plan or an error.
    fn into_plan(self) -> Result<PlanList<Self::Value>>;
}

impl<O: Operation, V, E: Into<Error>> ReturnsPlanList<O> for Result<PlanList<V>, E> {
    type Value = V;

    #[inline(always)]
    fn into_plan(self) -> Result<PlanList<V>> {
        self.map_err(Into::into)
    }
}

/// A type in which a kernel may take its plan, which is a `T`.
#[diagnostic::on_unimplemented(
    message = "the plan of operator `{O}` is `{T}`, but the kernel takes `{Self}`",
    label = "write `plan: {T}`"
)]
pub trait PlanParameter<O, T> {
    /// Returns the plan in the kernel's type.
    fn convert(plan: T) -> Self;
}

impl<O, T> PlanParameter<O, T> for T {
    #[inline(always)]
    fn convert(plan: T) -> Self {
        plan
    }
}

/// A type in which a kernel may take its outputs, which are a `T`.
#[diagnostic::on_unimplemented(
    message = "the output of operator `{O}` is `{T}`, but the kernel takes `{Self}`",
    label = "write `out: {T}`"
)]
pub trait OutputParameter<O, T> {
    /// Returns the outputs in the kernel's type.
    fn convert(out: T) -> Self;
}

impl<O, T> OutputParameter<O, T> for T {
    #[inline(always)]
    fn convert(out: T) -> Self {
        out
    }
}
