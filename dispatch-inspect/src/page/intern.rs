//! Interning: values that occur often are stored once.

use std::collections::HashMap;
use std::hash::Hash;

use serde::{Serialize, Serializer};

/// A list of different values in the order of their first use.
pub(super) struct Interned<T> {
    indices: HashMap<T, usize>,
}

impl<T> Default for Interned<T> {
    fn default() -> Self {
        Self { indices: HashMap::new() }
    }
}

impl<T: Eq + Hash> Interned<T> {
    /// Returns the index of a value in the list, and adds the value if it is new.
    pub(super) fn intern(&mut self, value: impl Into<T>) -> usize {
        let next = self.indices.len();
        *self.indices.entry(value.into()).or_insert(next)
    }
}

impl<T: Serialize> Serialize for Interned<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut values: Vec<(&T, usize)> = self.indices.iter().map(|(value, &index)| (value, index)).collect();
        values.sort_by_key(|(_, index)| *index);
        serializer.collect_seq(values.into_iter().map(|(value, _)| value))
    }
}

#[cfg(test)]
mod tests {
    use super::Interned;

    #[test]
    fn equal_values_have_one_index() {
        let mut words = Interned::<String>::default();
        let indices = ["b", "a", "b"].map(|word| words.intern(word));
        assert_eq!(indices, [0, 1, 0]);
        assert_eq!(serde_json::to_string(&words).unwrap(), r#"["b","a"]"#);
    }
}
