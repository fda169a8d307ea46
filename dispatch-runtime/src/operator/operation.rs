//! What the compiler knows about an operator.

use super::Operator;
use crate::call::Signature;
use crate::plan::Shape;

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
