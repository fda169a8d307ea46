//! Conversions between Rust types and values.
//!
//! [`Argument`] takes a value, [`ToValue`] and [`Output`] make one. The implementations are in convert.rs.

use super::Value;
use super::stack::Stack;
use crate::key::KeySet;
use crate::tensor::Marks;

/// A Rust type that an operator can take.
///
/// ```
/// use dispatch_runtime::{Argument, Tensor, Value};
///
/// let mut value = Value::from(7_i64);
/// assert_eq!(i64::from_value(&mut value), Some(7));
/// assert!(<&Tensor>::from_value(&mut value).is_none());
/// ```
pub trait Argument<'a>: Sized {
    /// What a schema calls the type.
    const KIND: &'static str;

    /// The keys that the argument adds to a call.
    #[inline(always)]
    fn keys(&self) -> KeySet {
        KeySet::EMPTY
    }

    /// Whether a tensor in it carries one of these marks.
    #[inline(always)]
    fn has_any(&self, _marks: Marks) -> bool {
        false
    }

    /// The argument as a value, sharing tensors and copying the rest.
    fn to_value(&self) -> Value;

    /// The argument that a value holds; none where the value is of another kind.
    fn from_value(value: &'a mut Value) -> Option<Self>;

    /// The keys of the argument that a value holds; none if it has keys and the value is of another kind.
    #[inline(always)]
    #[must_use]
    fn keys_of(_value: &Value) -> Option<KeySet> {
        Some(KeySet::EMPTY)
    }
}

/// An argument behind a pointer, for code that is compiled once for all signatures.
pub(crate) trait ToValue {
    /// Puts the argument's value on a stack.
    fn push_to(&self, stack: &mut Stack);
}

impl<'a, T: Argument<'a>> ToValue for T {
    fn push_to(&self, stack: &mut Stack) {
        stack.push(self.to_value());
    }
}

/// A Rust type that an operator can return.
///
/// ```
/// use dispatch_runtime::{Output, Value};
/// assert_eq!(Option::<i64>::from_value(Value::None), Some(None));
/// assert_eq!(vec![1_i64, 2].into_value().kind(), "int[]");
/// ```
pub trait Output: Sized {
    /// What a schema calls the type.
    const KIND: &'static str;

    /// The result as a value.
    fn into_value(self) -> Value;

    /// The result that a value holds; none where the value is of another kind.
    fn from_value(value: Value) -> Option<Self>;
}

/// A stack with the values of these arguments.
#[inline(never)]
pub(crate) fn stack_of(arguments: &[&dyn ToValue]) -> Stack {
    let mut stack = Stack::new();
    for argument in arguments {
        argument.push_to(&mut stack);
    }
    stack
}
