//! What a layer knows about an operator: its derivative, how it is batched, the dtype that it wants.
//!
//! The runtime knows no kind of rule. A rule is any value of a type of the layer's own, submitted for an operator as a record and found
//! by that type, so that two layers never meet. Rules are asked for in the middle of calls: each operator has its own, in a list that
//! only grows, which readers walk without a lock.

use std::any::{Any, TypeId, type_name};
use std::fmt;
use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use super::Operator;
use crate::location::Location;
use crate::registration::registry;

/// A rule, as a layer's attribute submits it.
pub struct RuleRecord {
    pub(crate) operator: fn() -> &'static Operator,
    rule: &'static (dyn Any + Send + Sync),
    of: fn() -> &'static str,
    pub(crate) location: Location,
}

impl RuleRecord {
    /// A rule of the type `T` for one operator.
    #[must_use]
    pub const fn new<T: Any + Send + Sync>(
        operator: fn() -> &'static Operator,
        rule: &'static T,
        location: Location,
    ) -> Self {
        Self { operator, rule, of: type_name::<T>, location }
    }

    /// What its type is called, for messages.
    pub(crate) fn of(&self) -> &'static str {
        (self.of)()
    }
}

impl fmt::Debug for RuleRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.of(), self.location)
    }
}

impl Operator {
    /// What the layer that made the type `T` knows about this operator, if it knows anything.
    ///
    /// Where two rules of one type were submitted, which [`verify`](crate::verify) reports, it is the first by file and line.
    ///
    /// ```
    /// use dispatch_runtime::prelude::*;
    /// use dispatch_runtime::{Location, Record, RuleRecord, register};
    ///
    /// #[op_def("twice(Tensor self) -> Tensor")]
    /// pub fn twice(this: &Tensor) -> Result<Tensor>;
    ///
    /// /// What a layer that counts operations wants to know.
    /// struct Cost(fn(&Tensor) -> i64);
    ///
    /// // An attribute of the layer's would write this.
    /// static COST: Cost = Cost(|this| this.geometry().count());
    /// static RULE: RuleRecord = RuleRecord::new(twice::operator, &COST, Location::new(file!(), line!()));
    /// static RECORDS: [Record; 1] = [Record::Rule(&RULE)];
    /// register(&RECORDS);
    ///
    /// let cost = twice::operator().rule::<Cost>().unwrap();
    /// assert_eq!((cost.0)(&Tensor::from_slice(&[1.0_f32, 2.0])), 2);
    /// assert!(twice::operator().rule::<String>().is_none());
    /// ```
    #[must_use]
    pub fn rule<T: Any>(&self) -> Option<&'static T> {
        registry::load();
        let rules = self.rules().iter().filter_map(|record| Some((record.location, record.rule.downcast_ref()?)));
        rules.min_by_key(|(location, _)| *location).map(|(_, rule)| rule)
    }

    /// Every rule of this operator: what its type is called, and where the rule is.
    ///
    /// ```
    /// use dispatch_runtime::{Location, Record, RuleRecord, prelude::*, register};
    ///
    /// #[op_def("thrice(Tensor self) -> Tensor")]
    /// pub fn thrice(this: &Tensor) -> Result<Tensor>;
    ///
    /// static RULE: RuleRecord = RuleRecord::new(thrice::operator, &3_u8, Location::new(file!(), line!()));
    /// static RECORDS: [Record; 1] = [Record::Rule(&RULE)];
    /// register(&RECORDS);
    /// assert_eq!(thrice::operator().rule_sites()[0].0, "u8");
    /// ```
    #[must_use]
    pub fn rule_sites(&self) -> Vec<(&'static str, Location)> {
        registry::load();
        let mut sites: Vec<_> = self.rules().iter().map(|record| (record.of(), record.location)).collect();
        sites.sort();
        sites
    }
}

/// The rules of one operator, in the order in which they came.
pub(crate) struct Rules(OnceLock<Box<Link>>);

struct Link {
    record: &'static RuleRecord,
    rest: Rules,
}

impl Rules {
    pub(crate) const fn new() -> Self {
        Self(OnceLock::new())
    }

    /// Only the registry adds, one at a time.
    pub(crate) fn add(&self, record: &'static RuleRecord) {
        let mut end = self;
        while let Some(link) = end.0.get() {
            end = &link.rest;
        }
        end.0.get_or_init(|| Box::new(Link { record, rest: Self::new() }));
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &'static RuleRecord> {
        std::iter::successors(self.0.get(), |link| link.rest.0.get()).map(|link| link.record)
    }

    /// Each type of which there are several, with all their places in order.
    pub(crate) fn duplicates(&self) -> Vec<(&'static str, Vec<Location>)> {
        let mut by_type: FxHashMap<TypeId, (&'static str, Vec<Location>)> = FxHashMap::default();
        for record in self.iter() {
            by_type
                .entry((*record.rule).type_id())
                .or_insert_with(|| (record.of(), Vec::new()))
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
