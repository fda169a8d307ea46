//! The arguments and results of a boxed call.
//!
//! The caller pushes the arguments left to right; the kernel takes exactly its own off the top and pushes its results left to
//! right. What lies below belongs to somebody else and stays.

use std::fmt;

use smallvec::SmallVec;

use crate::operator::Operator;
use crate::value::Value;

/// Values, the last one on top. The first eight need no allocation.
///
/// ```
/// use dispatch_runtime::Stack;
///
/// let mut stack = Stack::new();
/// stack.push(2_i64);
/// stack.push("mean");
/// assert_eq!(stack.pop().unwrap().kind(), "str");
/// assert_eq!(stack.len(), 1);
/// ```
#[derive(Default, Debug)]
pub struct Stack(SmallVec<[Value; 8]>);

impl Stack {
    /// A stack with nothing on it.
    #[inline]
    #[must_use]
    pub const fn new() -> Self {
        Self(SmallVec::new_const())
    }

    /// Puts a value on top.
    #[inline]
    pub fn push(&mut self, value: impl Into<Value>) {
        self.0.push(value.into());
    }

    /// Takes the top value off.
    #[inline]
    pub fn pop(&mut self) -> Option<Value> {
        self.0.pop()
    }

    /// How many values there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All values, the top one last.
    #[must_use]
    pub fn values(&self) -> &[Value] {
        &self.0
    }

    /// The top `count` values, in order.
    ///
    /// # Errors
    ///
    /// Where there are fewer.
    #[inline]
    pub fn top(&self, count: usize) -> Option<&[Value]> {
        self.0.get(self.0.len().checked_sub(count)?..)
    }

    /// The top `count` values, in order, to be changed in place.
    #[inline]
    pub fn top_mut(&mut self, count: usize) -> Option<&mut [Value]> {
        let start = self.0.len().checked_sub(count)?;
        self.0.get_mut(start..)
    }

    /// The top values, in order, to be changed in place, if there are as many.
    #[inline]
    pub(crate) fn top_array<const N: usize>(&mut self) -> Option<&mut [Value; N]> {
        self.0.last_chunk_mut()
    }

    /// Takes the top `count` values off, or all if there are fewer.
    #[inline]
    pub fn drop_top(&mut self, count: usize) {
        for _ in 0..count {
            match self.0.pop() {
                Some(value) => value.discard(),
                None => break,
            }
        }
    }

    /// All values, the top one last.
    #[must_use]
    pub fn into_values(self) -> Vec<Value> {
        self.0.into_vec()
    }

    /// The arguments of a call of `operator`, to be printed.
    #[must_use]
    pub fn args<'a>(&'a self, operator: &'a Operator) -> impl fmt::Display + 'a {
        Arguments { values: self.top(operator.argument_count()).unwrap_or(&self.0) }
    }
}

impl<V: Into<Value>> FromIterator<V> for Stack {
    fn from_iter<I: IntoIterator<Item = V>>(values: I) -> Self {
        Self(values.into_iter().map(Into::into).collect())
    }
}

struct Arguments<'a> {
    values: &'a [Value],
}

impl fmt::Display for Arguments<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        for (i, value) in self.values.iter().enumerate() {
            let separator = if i == 0 { "" } else { ", " };
            write!(f, "{separator}{value:?}")?;
        }
        f.write_str(")")
    }
}
