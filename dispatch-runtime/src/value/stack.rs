//! The stack with the arguments and results of a boxed call.
//!
//! The caller pushes the arguments left to right. The kernel takes exactly its own off the top and pushes its results left to right. Values
//! below them belong to outer calls; a boxed kernel does not see them.

use std::fmt;
use std::mem::MaybeUninit;

use super::Value;

/// A stack of values. The first eight values need no allocation.
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
pub struct Stack {
    /// The number of values in `inline`: exactly the elements below this index are initialised. [`SPILLED`] once there were too many
    /// values.
    inline_count: usize,
    inline: [MaybeUninit<Value>; INLINE_CAPACITY],
    /// All values, if there were too many for `inline`. So all values are always one slice.
    spilled: Vec<Value>,
}

const INLINE_CAPACITY: usize = 8;

/// The value of `inline_count` that means that all values are in `spilled`. It is greater than any index in `inline`, so one comparison
/// tells the cases apart.
const SPILLED: usize = usize::MAX;

impl Stack {
    /// Makes an empty stack.
    #[inline]
    #[must_use]
    pub const fn new() -> Self {
        Self { inline_count: 0, inline: [const { MaybeUninit::uninit() }; INLINE_CAPACITY], spilled: Vec::new() }
    }

    /// Makes a stack with these values.
    #[inline(always)]
    pub(crate) fn from_array<const N: usize>(values: [Value; N]) -> Self {
        let mut stack = Self::new();
        if N > INLINE_CAPACITY {
            (stack.inline_count, stack.spilled) = (SPILLED, values.into());
        } else {
            // SAFETY: `inline` has room for `N` values, and all of them are counted.
            unsafe { stack.inline.as_mut_ptr().cast::<[Value; N]>().write(values) };
            stack.inline_count = N;
        }
        stack
    }

    /// Pushes a value.
    #[inline]
    pub fn push(&mut self, value: impl Into<Value>) {
        if let Some(slot) = self.inline.get_mut(self.inline_count) {
            slot.write(value.into());
            self.inline_count += 1;
        } else {
            self.push_spilled(value.into());
        }
    }

    #[cold]
    #[inline(never)]
    fn push_spilled(&mut self, value: Value) {
        self.spill();
        self.spilled.push(value);
    }

    fn spill(&mut self) {
        while let Some(value) = self.pop_inline() {
            self.spilled.insert(0, value);
        }
        self.inline_count = SPILLED;
    }

    /// Pops the top value.
    #[inline]
    pub fn pop(&mut self) -> Option<Value> {
        self.pop_inline().or_else(|| self.spilled.pop())
    }

    #[inline]
    fn pop_inline(&mut self) -> Option<Value> {
        let slot = self.inline.get(self.inline_count.wrapping_sub(1))?;
        self.inline_count -= 1;
        // SAFETY: the element was counted, so it is initialised, and it is not counted any more.
        Some(unsafe { slot.assume_init_read() })
    }

    /// Returns the number of values.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.values().len()
    }

    /// Returns whether the stack has no values.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.inline_count == 0 || self.inline_count > INLINE_CAPACITY && self.spilled.is_empty()
    }

    /// Returns whether the stack has exactly `count` values.
    #[inline(always)]
    pub(crate) fn has_len(&self, count: usize) -> bool {
        self.inline_count == count || self.len() == count
    }

    /// Returns whether the stack has exactly `count` values, all of which are tensors in `inline`.
    #[inline(always)]
    pub(crate) fn has_only_tensors(&self, count: usize) -> bool {
        self.inline_count == count
            && self.inline_count != SPILLED
            // SAFETY: the count is not `SPILLED`, so the first `count` elements are initialised.
            && (0..count).all(|i| matches!(unsafe { self.inline.get_unchecked(i).assume_init_ref() }, Value::Tensor(_)))
    }

    /// Returns all values, the top one last.
    #[inline]
    #[must_use]
    pub fn values(&self) -> &[Value] {
        match self.inline.get(..self.inline_count) {
            // SAFETY: the first `count` elements are initialised.
            Some(inline) => unsafe { inline.assume_init_ref() },
            None => &self.spilled,
        }
    }

    /// Returns all values for changes in place, the top one last.
    #[inline]
    pub(crate) fn values_mut(&mut self) -> &mut [Value] {
        match self.inline.get_mut(..self.inline_count) {
            // SAFETY: the first `count` elements are initialised.
            Some(inline) => unsafe { inline.assume_init_mut() },
            None => &mut self.spilled,
        }
    }

    /// Returns the top `count` values, in order, or `None` if there are fewer.
    #[inline]
    #[must_use]
    pub fn top(&self, count: usize) -> Option<&[Value]> {
        let values = self.values();
        values.get(values.len().checked_sub(count)?..)
    }

    /// Returns the top `count` values, in order, for changes in place, or `None` if there are fewer.
    #[inline]
    pub fn top_mut(&mut self, count: usize) -> Option<&mut [Value]> {
        let values = self.values_mut();
        let start = values.len().checked_sub(count)?;
        values.get_mut(start..)
    }

    /// Returns the top `N` values, in order, for changes in place, or the number of values if there are fewer.
    #[inline]
    pub(crate) fn top_array<const N: usize>(&mut self) -> Result<&mut [Value; N], usize> {
        if self.inline_count > INLINE_CAPACITY {
            let count = self.spilled.len();
            return self.spilled.last_chunk_mut().ok_or(count);
        }
        if self.inline_count < N {
            return Err(self.inline_count);
        }
        // SAFETY: these elements are below the count, so they are in `inline` and initialised.
        Ok(unsafe { &mut *self.inline.as_mut_ptr().add(self.inline_count - N).cast() })
    }

    /// Moves the top `count` values to a new stack, or returns the number of values if there are fewer.
    pub(crate) fn split_top(&mut self, count: usize) -> Result<Self, usize> {
        let found = self.len();
        if found < count {
            return Err(found);
        }
        let mut top: Vec<Value> = std::iter::from_fn(|| self.pop()).take(count).collect();
        top.reverse();
        Ok(top.into_iter().collect())
    }

    /// Drops the top `count` values, or all if there are fewer.
    #[inline]
    pub fn drop_top(&mut self, count: usize) {
        if self.inline_count <= INLINE_CAPACITY
            && let Some(left) = self.inline_count.checked_sub(count)
        {
            self.inline_count = left;
            for i in 0..count {
                // SAFETY: the element was counted, so it is in `inline` and initialised, and it is not counted any more.
                unsafe { Value::drop_at(self.inline.get_unchecked_mut(left + i).as_mut_ptr()) };
            }
        } else {
            self.drop_top_slow(count);
        }
    }

    #[cold]
    #[inline(never)]
    fn drop_top_slow(&mut self, count: usize) {
        while let Some(value) = self.pop_inline() {
            drop(value);
        }
        self.spilled.truncate(self.spilled.len().saturating_sub(count));
    }

    /// Replaces the top `N` values, the arguments, with results.
    #[inline(always)]
    pub(crate) fn replace_top<const N: usize, const M: usize>(&mut self, results: impl FnOnce() -> [Value; M]) {
        if M > N || self.inline_count > INLINE_CAPACITY || self.inline_count < N {
            return self.replace_top_slow(N, results());
        }
        let left = self.inline_count - N;
        self.inline_count = left;
        // SAFETY: the elements were counted, so they are in `inline` and initialised. They are not counted while they are dropped, and
        // counted again once they hold the results.
        unsafe {
            for i in 0..N {
                Value::drop_at(self.inline.get_unchecked_mut(left + i).as_mut_ptr());
            }
            self.inline.as_mut_ptr().add(left).cast::<[Value; M]>().write(results());
        }
        self.inline_count = left + M;
    }

    #[inline(never)]
    fn replace_top_slow<const M: usize>(&mut self, count: usize, results: [Value; M]) {
        self.drop_top(count);
        for result in results {
            self.push(result);
        }
    }

    /// Returns all values, the top one last.
    #[must_use]
    pub fn into_values(mut self) -> Vec<Value> {
        self.spill();
        std::mem::take(&mut self.spilled)
    }
}

impl<V: Into<Value>> FromIterator<V> for Stack {
    fn from_iter<I: IntoIterator<Item = V>>(values: I) -> Self {
        let mut stack = Self::new();
        values.into_iter().for_each(|value| stack.push(value));
        stack
    }
}

impl Drop for Stack {
    #[inline]
    fn drop(&mut self) {
        if self.inline_count <= INLINE_CAPACITY {
            self.drop_top(self.inline_count);
        }
    }
}

impl Default for Stack {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Stack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Stack").field(&self.values()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tensor;
    use proptest::prelude::*;

    #[derive(Clone, Debug)]
    enum StackOperation {
        Push(i64),
        Pop,
        DropTop(usize),
        SplitTop(usize),
    }

    fn stack_operation_strategy() -> impl Strategy<Value = StackOperation> {
        prop_oneof![4 => any::<i64>().prop_map(StackOperation::Push), 2 => Just(StackOperation::Pop), 1 => (0..12_usize).prop_map(StackOperation::DropTop),
            1 => (0..12_usize).prop_map(StackOperation::SplitTop)]
    }

    fn to_integers(values: &[Value]) -> Vec<i64> {
        values.iter().map(|value| if let Value::Int(value) = value { *value } else { panic!("{value:?}") }).collect()
    }

    proptest! {
        #[test]
        fn a_stack_behaves_like_a_vector(steps in proptest::collection::vec(stack_operation_strategy(), 0..60)) {
            let (mut stack, mut vector) = (Stack::new(), Vec::new());
            for step in steps {
                match step {
                    StackOperation::Push(value) => {
                        stack.push(value);
                        vector.push(value);
                    }
                    StackOperation::Pop => prop_assert_eq!(stack.pop().is_some(), vector.pop().is_some()),
                    StackOperation::DropTop(count) => {
                        stack.drop_top(count);
                        vector.truncate(vector.len().saturating_sub(count));
                    }
                    StackOperation::SplitTop(count) => {
                        let top = vector.len().checked_sub(count).map(|at| vector.split_off(at)).ok_or(vector.len());
                        prop_assert_eq!(stack.split_top(count).map(|own| to_integers(own.values())), top);
                    }
                }
                prop_assert_eq!((stack.len(), stack.is_empty()), (vector.len(), vector.is_empty()));
                prop_assert_eq!(&to_integers(stack.values()), &vector);
                prop_assert_eq!(stack.top(3).map(to_integers), vector.len().checked_sub(3).map(|at| vector[at..].to_vec()));
                prop_assert_eq!(stack.top_array::<2>().map(|top| to_integers(top)).ok(), vector.last_chunk::<2>().map(|top| top.to_vec()));
            }
            prop_assert_eq!(to_integers(&stack.into_values()), vector);
        }

        #[test]
        fn every_value_is_dropped_once(pushed in 0..20_usize, popped in 0..20_usize, dropped in 0..20_usize, taken: bool) {
            let tensor = Tensor::from_slice(&[1_u8]);
            let mut stack: Stack = std::iter::repeat_n(&tensor, pushed).collect();
            stack.drop_top(dropped);
            (0..popped).for_each(|_| drop(stack.pop()));
            if taken {
                let left = pushed.saturating_sub(dropped).saturating_sub(popped);
                prop_assert_eq!(stack.into_values().len(), left);
            } else {
                drop(stack);
            }
            prop_assert_eq!(tensor.handle_count(), 1);
        }
    }
}
