//! The rules of an operator, by type.

use std::any::Any;

use super::registry;
use crate::location::Location;
use crate::operator::Operator;

impl Operator {
    /// What the layer that made the type `T` knows about this operator, if it knows anything.
    ///
    /// Where two rules of one type were submitted, which [`verify`](crate::verify) reports, it is the first by file and line.
    ///
    /// ```
    /// use dispatch_runtime::prelude::*;
    /// use dispatch_runtime::{Location, Record, RuleRecord, register};
    ///
    /// #[op_def("counted(Tensor self) -> Tensor")]
    /// pub fn counted(this: &Tensor) -> Result<Tensor>;
    ///
    /// /// What a layer that counts operations wants to know.
    /// struct Cost(fn(&Tensor) -> i64);
    ///
    /// // An attribute of the layer's would write this.
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
