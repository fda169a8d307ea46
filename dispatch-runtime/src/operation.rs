//! What the compiler knows about an operator.

use crate::operator::Operator;
use crate::shape::Shape;

/// The types of one operator: `#[op_def]` implements it for the empty enum that shares the operator's name.
///
/// Not public API beyond being a bound.
///
/// # Safety
///
/// A call turns the code that it finds in the operator's table into a `Kernel`, and the conditions of kernels into `Predicate`s.
///
/// * `Kernel` and `Predicate` are pointers to functions.
/// * `operator` always returns the same operator. Its [`Definition`](crate::Operator), made with `Operator::new` for this implementation
///   alone, has no code but of type `Kernel`.
pub unsafe trait Operation: 'static {
    /// A pointer to a function that takes the operator's arguments and the key set of the call.
    type Kernel: Copy + Send + Sync + 'static;

    /// A pointer to a function that looks at the operator's arguments and says yes or no.
    type Predicate: Copy + Send + Sync + 'static;

    /// What the operator's results look like, where a word says it.
    const SHAPE: Option<Shape> = None;

    /// The operator itself.
    fn operator() -> &'static Operator;
}
