//! The arguments and results of a boxed call.
//!
//! The caller pushes the arguments left to right; the kernel takes exactly its own off the top and pushes its results left to
//! right. What lies below belongs to the caller's callers. A boxed kernel does not see it.

use std::fmt;
use std::mem::MaybeUninit;

use super::Value;

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
pub struct Stack {
    /// How many values are in `near`: all that precedes this place is a value, and nothing else is. [`FAR`] once there were too many.
    count: usize,
    near: [MaybeUninit<Value>; NEAR],
    /// All values, if there were too many: they are always one slice.
    far: Vec<Value>,
}

const NEAR: usize = 8;

/// More than fits, so that one comparison says whether a place is near, or how many near values there are.
const FAR: usize = usize::MAX;

impl Stack {
    /// A stack with nothing on it.
    #[inline]
    #[must_use]
    pub const fn new() -> Self {
        Self { count: 0, near: [const { MaybeUninit::uninit() }; NEAR], far: Vec::new() }
    }

    /// A stack with these values.
    #[inline(always)]
    pub(crate) fn of<const N: usize>(values: [Value; N]) -> Self {
        let mut stack = Self::new();
        if N > NEAR {
            (stack.count, stack.far) = (FAR, values.into());
        } else {
            // SAFETY: there is place for `N` values, and all of them are counted.
            unsafe { stack.near.as_mut_ptr().cast::<[Value; N]>().write(values) };
            stack.count = N;
        }
        stack
    }

    /// Puts a value on top.
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

    /// Takes the top value off.
    #[inline]
    pub fn pop(&mut self) -> Option<Value> {
        self.pop_near().or_else(|| self.far.pop())
    }

    #[inline]
    fn pop_near(&mut self) -> Option<Value> {
        let place = self.near.get(self.count.wrapping_sub(1))?;
        self.count -= 1;
        // SAFETY: the place was counted, so it holds a value, and it is not counted any more.
        Some(unsafe { place.assume_init_read() })
    }

    /// How many values there are.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.values().len()
    }

    /// Whether there are none.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0 || self.count > NEAR && self.far.is_empty()
    }

    /// Whether there are exactly `count` values.
    #[inline(always)]
    pub(crate) fn holds(&self, count: usize) -> bool {
        self.count == count || self.len() == count
    }

    /// Whether there are exactly `count` values, and all are tensors and few.
    #[inline(always)]
    pub(crate) fn holds_tensors(&self, count: usize) -> bool {
        self.count == count
            && self.count != FAR
            // SAFETY: the count is no other than `FAR`, so the first `count` places hold values.
            && (0..count).all(|at| matches!(unsafe { self.near.get_unchecked(at).assume_init_ref() }, Value::Tensor(_)))
    }

    /// All values, the top one last.
    #[inline]
    #[must_use]
    pub fn values(&self) -> &[Value] {
        match self.near.get(..self.count) {
            // SAFETY: the first `count` places hold values.
            Some(near) => unsafe { near.assume_init_ref() },
            None => &self.far,
        }
    }

    /// The same, to be changed in place.
    #[inline]
    pub(crate) fn values_mut(&mut self) -> &mut [Value] {
        match self.near.get_mut(..self.count) {
            // SAFETY: the first `count` places hold values.
            Some(near) => unsafe { near.assume_init_mut() },
            None => &mut self.far,
        }
    }

    /// The top `count` values, in order; none where there are fewer.
    #[inline]
    #[must_use]
    pub fn top(&self, count: usize) -> Option<&[Value]> {
        let values = self.values();
        values.get(values.len().checked_sub(count)?..)
    }

    /// The same, to be changed in place.
    #[inline]
    pub fn top_mut(&mut self, count: usize) -> Option<&mut [Value]> {
        let values = self.values_mut();
        let start = values.len().checked_sub(count)?;
        values.get_mut(start..)
    }

    /// The top values, in order, to be changed in place; how many there are, if there are fewer.
    #[inline]
    pub(crate) fn top_array<const N: usize>(&mut self) -> Result<&mut [Value; N], usize> {
        if self.count > NEAR {
            let count = self.far.len();
            return self.far.last_chunk_mut().ok_or(count);
        }
        if self.count < N {
            return Err(self.count);
        }
        // SAFETY: these places precede the count, so they are near and hold values.
        Ok(unsafe { &mut *self.near.as_mut_ptr().add(self.count - N).cast() })
    }

    /// Takes the top `count` values off, as a stack of their own; how many there are, if there are fewer.
    pub(crate) fn split_top(&mut self, count: usize) -> Result<Self, usize> {
        let found = self.len();
        if found < count {
            return Err(found);
        }
        let mut own: Vec<Value> = std::iter::from_fn(|| self.pop()).take(count).collect();
        own.reverse();
        Ok(own.into_iter().collect())
    }

    /// Takes the top `count` values off, or all if there are fewer.
    #[inline]
    pub fn drop_top(&mut self, count: usize) {
        if self.count <= NEAR
            && let Some(left) = self.count.checked_sub(count)
        {
            self.count = left;
            for i in 0..count {
                // SAFETY: the place was counted, so it is near and holds a value, and it is not counted any more.
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

    /// Puts results where `N` arguments were.
    #[inline(always)]
    pub(crate) fn replace_top<const N: usize, const M: usize>(&mut self, results: impl FnOnce() -> [Value; M]) {
        if M > N || self.count > NEAR || self.count < N {
            return self.replace_otherwise(N, results());
        }
        let left = self.count - N;
        self.count = left;
        // SAFETY: the places were counted, so they are near and hold values. They are not counted while those are dropped, and counted
        // again once they hold the results.
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

    /// All values, the top one last.
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
