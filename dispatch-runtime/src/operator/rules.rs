//! Rules: a layer's data for an operator, such as its derivative, its batching rule or its autocast dtype.
//!
//! The runtime knows no kind of rule. A rule is a value of a type that a layer defines. It is submitted for an operator as a record and
//! found by its type, so rules of different layers are independent. Layers look rules up during calls. So each operator has its own list,
//! which only grows and is read without a lock.

use std::any::{Any, TypeId, type_name};
use std::fmt;
use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use super::Operator;
use crate::location::Location;

/// A rule for an operator, as a layer's attribute submits it.
pub struct RuleRecord {
    pub(crate) operator: fn() -> &'static Operator,
    pub(crate) rule: &'static (dyn Any + Send + Sync),
    type_name: fn() -> &'static str,
    pub(crate) location: Location,
}

impl RuleRecord {
    /// Makes the record of a rule of type `T` for one operator.
    #[must_use]
    pub const fn new<T: Any + Send + Sync>(
        operator: fn() -> &'static Operator,
        rule: &'static T,
        location: Location,
    ) -> Self {
        Self { operator, rule, type_name: type_name::<T>, location }
    }

    /// Returns the name of the rule's type, for messages.
    pub(crate) fn type_name(&self) -> &'static str {
        (self.type_name)()
    }
}

impl fmt::Debug for RuleRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.type_name(), self.location)
    }
}

/// The rules of one operator, in the order in which they were added.
pub(crate) struct Rules(OnceLock<Box<RuleNode>>);

struct RuleNode {
    record: &'static RuleRecord,
    next: Rules,
}

impl Rules {
    pub(crate) const fn new() -> Self {
        Self(OnceLock::new())
    }

    /// Appends a rule. Only the registry calls this, one call at a time.
    pub(crate) fn add(&self, record: &'static RuleRecord) {
        let mut end = self;
        while let Some(node) = end.0.get() {
            end = &node.next;
        }
        end.0.get_or_init(|| Box::new(RuleNode { record, next: Self::new() }));
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &'static RuleRecord> {
        std::iter::successors(self.0.get(), |node| node.next.0.get()).map(|node| node.record)
    }

    /// Returns each type that has several rules, with the sorted locations of its rules.
    pub(crate) fn duplicates(&self) -> Vec<(&'static str, Vec<Location>)> {
        let mut by_type: FxHashMap<TypeId, (&'static str, Vec<Location>)> = FxHashMap::default();
        for record in self.iter() {
            by_type
                .entry((*record.rule).type_id())
                .or_insert_with(|| (record.type_name(), Vec::new()))
                .1
                .push(record.location);
        }
        let mut duplicates: Vec<_> = by_type.into_values().filter(|(_, locations)| locations.len() > 1).collect();
        for (_, locations) in &mut duplicates {
            locations.sort();
        }
        duplicates.sort();
        duplicates
    }
}
