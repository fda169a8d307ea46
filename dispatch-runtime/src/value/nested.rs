//! Nested values: the contents of a list, a tuple or a dictionary.
//!
//! Values can be nested deeper than a thread's stack allows, for instance by a text that a program reads. So no function over all levels is
//! recursive.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use super::Value;

/// The values in a list, a tuple or a dictionary. Clones share them.
///
/// ```
/// use dispatch_runtime::Value;
/// let pairs = Value::Dict([Value::from("rows"), 2_i64.into()].into_iter().collect());
/// let list = Value::List(vec![Value::None, pairs].into());
/// assert_eq!(format!("{list:?}"), r#"[None, {"rows": 2}]"#);
/// ```
#[derive(Clone, Default)]
pub struct Values(Option<Arc<Vec<Value>>>);

impl Values {
    /// Returns the values for changes in place. They are copied first if other handles share them.
    pub(super) fn values_mut(&mut self) -> &mut [Value] {
        self.0.as_mut().map_or(&mut [], |values| Arc::make_mut(values).as_mut_slice())
    }

    /// Takes the values out, or returns no values if other handles share them.
    fn take_if_unshared(&mut self) -> Vec<Value> {
        self.0.take().and_then(Arc::into_inner).unwrap_or_default()
    }
}

impl Drop for Values {
    fn drop(&mut self) {
        let mut values = self.take_if_unshared();
        while let Some(value) = values.pop() {
            if let Value::List(mut nested) | Value::Tuple(mut nested) | Value::Dict(mut nested) = value {
                values.append(&mut nested.take_if_unshared());
            }
        }
    }
}

impl Deref for Values {
    type Target = [Value];

    fn deref(&self) -> &[Value] {
        self.0.as_ref().map_or(&[], |values| values)
    }
}

impl From<Vec<Value>> for Values {
    fn from(values: Vec<Value>) -> Self {
        Self(Some(Arc::new(values)))
    }
}

impl FromIterator<Value> for Values {
    fn from_iter<I: IntoIterator<Item = Value>>(values: I) -> Self {
        Vec::from_iter(values).into()
    }
}

/// The number of nested levels that are printed.
const MAX_PRINTED_DEPTH: usize = 64;

/// A value and its nesting depth, for printing.
pub(super) struct NestedValueDisplay<'a> {
    pub(super) value: &'a Value,
    pub(super) depth: usize,
}

impl<'a> fmt::Debug for NestedValueDisplay<'a> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let depth = self.depth + 1;
        let items = |nested: &'a Values| nested.iter().map(move |value| NestedValueDisplay { value, depth });
        match self.value {
            Value::List(_) | Value::Tuple(_) | Value::Dict(_) if depth > MAX_PRINTED_DEPTH => f.write_str(".."),
            Value::List(values) => f.debug_list().entries(items(values)).finish(),
            Value::Tuple(values) => {
                let mut tuple = f.debug_tuple("");
                items(values).for_each(|value| _ = tuple.field(&value));
                tuple.finish()
            }
            Value::Dict(values) => {
                let (keys, values) = (items(values).step_by(2), items(values).skip(1).step_by(2));
                f.debug_map().entries(keys.zip(values)).finish()
            }
            plain => plain.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Marks, Tensor};

    #[test]
    fn a_million_levels_can_be_copied_searched_printed_and_dropped() {
        let tensor = Tensor::from_slice(&[1.0_f32]);
        let mut value = Value::from(tensor.clone());
        for level in 0..1_000_000 {
            value = match level % 3 {
                0 => Value::List(vec![value].into()),
                1 => Value::Tuple(vec![Value::None, value].into()),
                _ => Value::Dict(vec![1_i64.into(), value].into()),
            };
        }
        let mut copy = value.clone();
        assert!(value.tensors().all(|found| found.same(&tensor)));
        copy.tensors_mut().for_each(|tensor| *tensor = Tensor::from_slice(&[2.0_f32]));
        assert_eq!((value.tensors().count(), copy.tensors().count()), (1, 1));
        assert!(!copy.tensors().any(|found| found.same(&tensor)) && value.tensors().any(|found| found.same(&tensor)));
        assert!(!value.has_any_mark(Marks::REQUIRES_GRAD));
        assert!(format!("{value:?}").contains(".."));
        drop((value, copy));
        assert_eq!(tensor.handle_count(), 1);
    }
}
