//! Lookup of an operator's rules by type.

use std::any::Any;

use super::registry;
use crate::location::Location;
use crate::operator::Operator;

impl Operator {
    /// Returns the rule of type `T` for this operator, if there is one.
    ///
    /// If two rules of one type were submitted, which [`verify`](crate::verify) reports, this is the first by file and line.
    ///
    /// ```
    /// use dispatch_runtime::prelude::*;
    /// use dispatch_runtime::{Location, Record, RuleRecord, register};
    ///
    /// #[op_def("counted(Tensor self) -> Tensor")]
    /// pub fn counted(this: &Tensor) -> Result<Tensor>;
    ///
    /// /// A rule of a layer that counts operations.
    /// struct Cost(fn(&Tensor) -> i64);
    ///
    /// // An attribute macro of the layer would generate this.
    /// static COST: Cost = Cost(|this| this.geometry().count());
    /// static RULE: RuleRecord = RuleRecord::new(counted::operator, &COST, Location::new(file!(), line!()));
    /// static RECORDS: [Record; 1] = [Record::Rule(&RULE)];
    /// register(&RECORDS);
    ///
    /// let cost = counted::operator().rule::<Cost>().unwrap();
    /// assert_eq!((cost.0)(&Tensor::from_slice(&[1.0_f32, 2.0])), 2);
    /// assert!(counted::operator().rule::<String>().is_none());
    /// ```
    #[must_use]
    pub fn rule<T: Any>(&self) -> Option<&'static T> {
        registry::load_records();
        let rules = self.rules().iter().filter_map(|record| Some((record.location, record.rule.downcast_ref()?)));
        rules.min_by_key(|(location, _)| *location).map(|(_, rule)| rule)
    }

    /// Returns every rule of this operator: the name of its type, and its location.
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
    /// assert_eq!(thrice::operator().rule_locations()[0].0, "u8");
    /// ```
    #[must_use]
    pub fn rule_locations(&self) -> Vec<(&'static str, Location)> {
        registry::load_records();
        let mut sites: Vec<_> = self.rules().iter().map(|record| (record.type_name(), record.location)).collect();
        sites.sort();
        sites
    }
}
