//! What the compiler knows about an operator.

use crate::operator::Operator;

/// The types of one operator: `#[op_def]` implements it for the empty enum that shares the operator's name.
///
/// Not public API beyond being a bound: the macros rely on `Kernel` and `Predicate` being function pointers.
pub trait Operation: 'static {
    /// A pointer to a function that takes the operator's arguments and the key set of the call.
    type Kernel: Copy + Send + Sync + 'static;

    /// A pointer to a function that looks at the operator's arguments and says yes or no.
    type Predicate: Copy + Send + Sync + 'static;

    /// The operator itself.
    fn operator() -> &'static Operator;
}
