//! What the compiler knows about an operator.

use super::Operator;
use super::definition::Typed;
use crate::spec::Shape;

/// The types of one operator: `#[op_def]` implements it for the empty enum that shares the operator's name.
///
/// Not public API beyond being a bound.
///
/// # Safety
///
/// A call turns the code that it finds in the operator's table into a kernel of this signature, and the conditions of kernels into its
/// predicates. `operator` always returns the same operator, which has no types, or was made with `Operator::new` for this implementation.
pub unsafe trait Operation: 'static {
    /// The types of its arguments and results.
    type Signature: Signature;

    /// What the operator's results look like, where a word says it.
    const SHAPE: Option<Shape> = None;

    /// The operator itself.
    fn operator() -> &'static Operator;
}

/// The types of an operator's functions, and its adapters.
pub trait Signature: 'static {
    /// A kernel. It takes the arguments, the keys of the call, and the table that the call went through.
    type Kernel: Copy + Send + Sync + 'static;
    /// A condition of a kernel.
    type Predicate: Copy + Send + Sync + 'static;
    /// The adapters.
    const ADAPTERS: &'static Typed;
}

/// A pointer to a kernel of an operator.
pub type Kernel<O> = <<O as Operation>::Signature as Signature>::Kernel;

/// A pointer to a condition of an operator's kernels.
pub type Predicate<O> = <<O as Operation>::Signature as Signature>::Predicate;
