//! Conversions between Rust types and values.
//!
//! [`Argument`] reads a value; [`ErasedArgument`] and [`Output`] make one. The implementations are in convert.rs.

use super::Value;
use super::stack::Stack;
use crate::key::KeySet;
use crate::tensor::Marks;

/// A Rust type that an operator's argument can have.
///
/// ```
/// use dispatch_runtime::{Argument, Tensor, Value};
///
/// let mut value = Value::from(7_i64);
/// assert_eq!(i64::from_value(&mut value), Some(7));
/// assert!(<&Tensor>::from_value(&mut value).is_none());
/// ```
pub trait Argument<'a>: Sized {
    /// The type's name in a schema.
    const KIND_NAME: &'static str;

    /// Returns the keys that the argument adds to a call.
    #[inline(always)]
    fn keys(&self) -> KeySet {
        KeySet::EMPTY
    }

    /// Returns whether a tensor in the argument has one of these marks.
    #[inline(always)]
    fn has_any_mark(&self, _marks: Marks) -> bool {
        false
    }

    /// Returns the argument as a value. Tensors are shared, all else is copied.
    fn to_value(&self) -> Value;

    /// Reads the argument from a value, or returns `None` if the value is of another kind.
    fn from_value(value: &'a mut Value) -> Option<Self>;

    /// Returns the keys of the argument in a value, or `None` if the type has keys and the value is of another kind.
    #[inline(always)]
    #[must_use]
    fn keys_in_value(_value: &Value) -> Option<KeySet> {
        Some(KeySet::EMPTY)
    }
}

/// An argument of any type, for code that is compiled once for all signatures.
pub(crate) trait ErasedArgument {
    /// Pushes the argument's value on a stack.
    fn push_to(&self, stack: &mut Stack);
}

impl<'a, T: Argument<'a>> ErasedArgument for T {
    fn push_to(&self, stack: &mut Stack) {
        stack.push(self.to_value());
    }
}

/// A Rust type that an operator's result can have.
///
/// ```
/// use dispatch_runtime::{Output, Value};
/// assert_eq!(Option::<i64>::from_value(Value::None), Some(None));
/// assert_eq!(vec![1_i64, 2].into_value().kind(), "int[]");
/// ```
pub trait Output: Sized {
    /// The type's name in a schema.
    const KIND_NAME: &'static str;

    /// Returns the result as a value.
    fn into_value(self) -> Value;

    /// Reads the result from a value, or returns `None` if the value is of another kind.
    fn from_value(value: Value) -> Option<Self>;
}

/// Makes a stack with the values of these arguments.
#[inline(never)]
pub(crate) fn stack_from_arguments(arguments: &[&dyn ErasedArgument]) -> Stack {
    let mut stack = Stack::new();
    for argument in arguments {
        argument.push_to(&mut stack);
    }
    stack
}
