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
    /// The number of values in `near`: exactly the elements below this index are initialised. [`FAR`] once there were too many values.
    count: usize,
    near: [MaybeUninit<Value>; NEAR],
    /// All values, if there were too many for `near`. So all values are always one slice.
    far: Vec<Value>,
}

const NEAR: usize = 8;

/// The `count` if the values are in `far`. It is greater than any index in `near`, so one comparison tells the cases apart.
const FAR: usize = usize::MAX;

impl Stack {
    /// Makes an empty stack.
    #[inline]
    #[must_use]
    pub const fn new() -> Self {
        Self { count: 0, near: [const { MaybeUninit::uninit() }; NEAR], far: Vec::new() }
    }

    /// Makes a stack with these values.
    #[inline(always)]
    pub(crate) fn of<const N: usize>(values: [Value; N]) -> Self {
        let mut stack = Self::new();
        if N > NEAR {
            (stack.count, stack.far) = (FAR, values.into());
        } else {
            // SAFETY: `near` has room for `N` values, and all of them are counted.
            unsafe { stack.near.as_mut_ptr().cast::<[Value; N]>().write(values) };
            stack.count = N;
        }
        stack
    }

    /// Pushes a value.
    #[inline]
    pub fn push(&mut self, value: impl Into<Value>) {
        if let Some(place) = self.near.get_mut(self.count) {
            place.write(value.into());
            self.count += 1;
        } else {
            self.push_far(value.into());
        }
    }

    #[cold]
    #[inline(never)]
    fn push_far(&mut self, value: Value) {
        self.spill();
        self.far.push(value);
    }

    fn spill(&mut self) {
        while let Some(value) = self.pop_near() {
            self.far.insert(0, value);
        }
        self.count = FAR;
    }

    /// Pops the top value.
    #[inline]
    pub fn pop(&mut self) -> Option<Value> {
        self.pop_near().or_else(|| self.far.pop())
    }

    #[inline]
    fn pop_near(&mut self) -> Option<Value> {
        let place = self.near.get(self.count.wrapping_sub(1))?;
        self.count -= 1;
        // SAFETY: the element was counted, so it is initialised, and it is not counted any more.
        Some(unsafe { place.assume_init_read() })
    }

    /// Returns the number of values.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.values().len()
    }

    /// Whether the stack has no values.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0 || self.count > NEAR && self.far.is_empty()
    }

    /// Whether the stack has exactly `count` values.
    #[inline(always)]
    pub(crate) fn holds(&self, count: usize) -> bool {
        self.count == count || self.len() == count
    }

    /// Whether the stack has exactly `count` values, and all are tensors in `near`.
    #[inline(always)]
    pub(crate) fn holds_tensors(&self, count: usize) -> bool {
        self.count == count
            && self.count != FAR
            // SAFETY: the count is not `FAR`, so the first `count` elements are initialised.
            && (0..count).all(|at| matches!(unsafe { self.near.get_unchecked(at).assume_init_ref() }, Value::Tensor(_)))
    }

    /// Returns all values, the top one last.
    #[inline]
    #[must_use]
    pub fn values(&self) -> &[Value] {
        match self.near.get(..self.count) {
            // SAFETY: the first `count` elements are initialised.
            Some(near) => unsafe { near.assume_init_ref() },
            None => &self.far,
        }
    }

    /// Returns all values for changes in place, the top one last.
    #[inline]
    pub(crate) fn values_mut(&mut self) -> &mut [Value] {
        match self.near.get_mut(..self.count) {
            // SAFETY: the first `count` elements are initialised.
            Some(near) => unsafe { near.assume_init_mut() },
            None => &mut self.far,
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
        if self.count > NEAR {
            let count = self.far.len();
            return self.far.last_chunk_mut().ok_or(count);
        }
        if self.count < N {
            return Err(self.count);
        }
        // SAFETY: these elements are below the count, so they are in `near` and initialised.
        Ok(unsafe { &mut *self.near.as_mut_ptr().add(self.count - N).cast() })
    }

    /// Takes the top `count` values off, as a separate stack, or returns the number of values if there are fewer.
    pub(crate) fn split_top(&mut self, count: usize) -> Result<Self, usize> {
        let found = self.len();
        if found < count {
            return Err(found);
        }
        let mut own: Vec<Value> = std::iter::from_fn(|| self.pop()).take(count).collect();
        own.reverse();
        Ok(own.into_iter().collect())
    }

    /// Drops the top `count` values, or all if there are fewer.
    #[inline]
    pub fn drop_top(&mut self, count: usize) {
        if self.count <= NEAR
            && let Some(left) = self.count.checked_sub(count)
        {
            self.count = left;
            for i in 0..count {
                // SAFETY: the element was counted, so it is in `near` and initialised, and it is not counted any more.
                unsafe { Value::discard(self.near.get_unchecked_mut(left + i).as_mut_ptr()) };
            }
        } else {
            self.drop_others(count);
        }
    }

    #[cold]
    #[inline(never)]
    fn drop_others(&mut self, count: usize) {
        while let Some(value) = self.pop_near() {
            drop(value);
        }
        self.far.truncate(self.far.len().saturating_sub(count));
    }

    /// Replaces the top `N` values, the arguments, with results.
    #[inline(always)]
    pub(crate) fn replace_top<const N: usize, const M: usize>(&mut self, results: impl FnOnce() -> [Value; M]) {
        if M > N || self.count > NEAR || self.count < N {
            return self.replace_otherwise(N, results());
        }
        let left = self.count - N;
        self.count = left;
        // SAFETY: the elements were counted, so they are in `near` and initialised. They are not counted while they are dropped, and
        // counted again once they hold the results.
        unsafe {
            for i in 0..N {
                Value::discard(self.near.get_unchecked_mut(left + i).as_mut_ptr());
            }
            self.near.as_mut_ptr().add(left).cast::<[Value; M]>().write(results());
        }
        self.count = left + M;
    }

    #[inline(never)]
    fn replace_otherwise<const M: usize>(&mut self, count: usize, results: [Value; M]) {
        self.drop_top(count);
        for result in results {
            self.push(result);
        }
    }

    /// Returns all values, the top one last.
    #[must_use]
    pub fn into_values(mut self) -> Vec<Value> {
        self.spill();
        std::mem::take(&mut self.far)
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
        if self.count <= NEAR {
            self.drop_top(self.count);
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
    enum Step {
        Push(i64),
        Pop,
        DropTop(usize),
        SplitTop(usize),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![4 => any::<i64>().prop_map(Step::Push), 2 => Just(Step::Pop), 1 => (0..12_usize).prop_map(Step::DropTop),
            1 => (0..12_usize).prop_map(Step::SplitTop)]
    }

    fn integers(values: &[Value]) -> Vec<i64> {
        values.iter().map(|value| if let Value::Int(value) = value { *value } else { panic!("{value:?}") }).collect()
    }

    proptest! {
        #[test]
        fn a_stack_is_a_vector(steps in proptest::collection::vec(step(), 0..60)) {
            let (mut stack, mut vector) = (Stack::new(), Vec::new());
            for step in steps {
                match step {
                    Step::Push(value) => {
                        stack.push(value);
                        vector.push(value);
                    }
                    Step::Pop => prop_assert_eq!(stack.pop().is_some(), vector.pop().is_some()),
                    Step::DropTop(count) => {
                        stack.drop_top(count);
                        vector.truncate(vector.len().saturating_sub(count));
                    }
                    Step::SplitTop(count) => {
                        let top = vector.len().checked_sub(count).map(|at| vector.split_off(at)).ok_or(vector.len());
                        prop_assert_eq!(stack.split_top(count).map(|own| integers(own.values())), top);
                    }
                }
                prop_assert_eq!((stack.len(), stack.is_empty()), (vector.len(), vector.is_empty()));
                prop_assert_eq!(&integers(stack.values()), &vector);
                prop_assert_eq!(stack.top(3).map(integers), vector.len().checked_sub(3).map(|at| vector[at..].to_vec()));
                prop_assert_eq!(stack.top_array::<2>().map(|top| integers(top)).ok(), vector.last_chunk::<2>().map(|top| top.to_vec()));
            }
            prop_assert_eq!(integers(&stack.into_values()), vector);
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
            prop_assert_eq!(tensor.handles(), 1);
        }
    }
}
