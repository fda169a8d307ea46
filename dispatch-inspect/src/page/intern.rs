//! Interning: values that occur often are stored once.

use std::collections::HashMap;
use std::hash::Hash;

use serde::{Serialize, Serializer};

/// A list of different values in the order of their first use.
pub(super) struct Interned<T> {
    places: HashMap<T, usize>,
}

impl<T> Default for Interned<T> {
    fn default() -> Self {
        Self { places: HashMap::new() }
    }
}

impl<T: Eq + Hash> Interned<T> {
    /// Returns the index of a value in the list, and adds the value if it is new.
    pub(super) fn place(&mut self, value: impl Into<T>) -> usize {
        let next = self.places.len();
        *self.places.entry(value.into()).or_insert(next)
    }
}

impl<T: Serialize> Serialize for Interned<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut values: Vec<(&T, usize)> = self.places.iter().map(|(value, &place)| (value, place)).collect();
        values.sort_by_key(|(_, place)| *place);
        serializer.collect_seq(values.into_iter().map(|(value, _)| value))
    }
}

#[cfg(test)]
mod tests {
    use super::Interned;

    #[test]
    fn a_value_that_comes_again_has_the_place_it_had() {
        let mut words = Interned::<String>::default();
        let places = ["b", "a", "b"].map(|word| words.place(word));
        assert_eq!(places, [0, 1, 0]);
        assert_eq!(serde_json::to_string(&words).unwrap(), r#"["b","a"]"#);
    }
}
