//! The types of an operator, known at compile time.

use super::Operator;
use super::definition::TypedAdapters;
use crate::spec::ShapeWord;

/// The types of one operator. `#[op_def]` implements this trait for the empty enum with the operator's name.
///
/// Not public API, except as a bound.
///
/// # Safety
///
/// A call converts the code in the operator's table to a kernel of this signature, and the conditions of kernels to its predicates.
/// `operator` always returns the same operator. That operator has no types, or was made with `Operator::new` for this implementation.
pub unsafe trait Operation: 'static {
    /// The types of the operator's arguments and results.
    type Signature: Signature;

    /// The operator's shape word, if it has one.
    const SHAPE_WORD: Option<ShapeWord> = None;

    /// Returns the operator.
    fn operator() -> &'static Operator;
}

/// The types of an operator's functions, and its adapters.
pub trait Signature: 'static {
    /// The function type of a kernel. A kernel takes the arguments, the keys of the call, and the table of the call.
    type Kernel: Copy + Send + Sync + 'static;
    /// The function type of a kernel's condition.
    type ConditionFn: Copy + Send + Sync + 'static;
    /// The adapters between typed and boxed calls.
    const TYPED_ADAPTERS: &'static TypedAdapters;
}

/// The function type of a kernel of the operator `O`.
pub type Kernel<O> = <<O as Operation>::Signature as Signature>::Kernel;

/// The function type of a condition of the kernels of the operator `O`.
pub type ConditionFn<O> = <<O as Operation>::Signature as Signature>::ConditionFn;
