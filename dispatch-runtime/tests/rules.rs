//! Tests of rules: they are found by the layer's own type, however and whenever they were submitted.

use std::any::Any;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use dispatch_runtime::prelude::*;
use dispatch_runtime::{Finding, Location, Record, RuleRecord, register, verify};

#[derive(Debug, PartialEq)]
struct DerivativeRule(&'static str);

#[derive(Debug, PartialEq)]
struct PolicyRule(u8);

#[op_def("with_rules(Tensor self) -> Tensor")]
fn with_rules(this: &Tensor) -> Result<Tensor>;

#[op_def("late_rule(Tensor self) -> Tensor")]
fn late_rule(this: &Tensor) -> Result<Tensor>;

#[op_def("duplicate_rules(Tensor self) -> Tensor")]
fn duplicate_rules(this: &Tensor) -> Result<Tensor>;

#[op_def("concurrent_rules(Tensor self) -> Tensor")]
fn concurrent_rules(this: &Tensor) -> Result<Tensor>;

/// Submits a rule as a layer's attribute does.
macro_rules! submit_rule {
    ($operator:ident, $ty:ty = $rule:expr, $location:expr) => {
        const _: () = {
            static RULE: $ty = $rule;
            static __RULE: RuleRecord = RuleRecord::new($operator::operator, &RULE, $location);
            dispatch_runtime::__submit! { Record::Rule(&__RULE) }
        };
    };
}

submit_rule!(with_rules, DerivativeRule = DerivativeRule("of known"), Location::caller());
submit_rule!(with_rules, PolicyRule = PolicyRule(3), Location::caller());

// The rule with the first location is in the middle, so it is first in neither direction of collection.
submit_rule!(duplicate_rules, DerivativeRule = DerivativeRule("second"), Location::new("b.rs", 1));
submit_rule!(duplicate_rules, DerivativeRule = DerivativeRule("first"), Location::new("a.rs", 20));
submit_rule!(duplicate_rules, DerivativeRule = DerivativeRule("third"), Location::new("b.rs", 2));

fn register_rule<T: Any + Send + Sync>(operator: fn() -> &'static Operator, rule: T, location: Location) {
    let rule: &'static T = Box::leak(Box::new(rule));
    let record: &'static RuleRecord = Box::leak(Box::new(RuleRecord::new(operator, rule, location)));
    register(vec![Record::Rule(record)].leak());
}

#[test]
fn a_rule_is_found_by_operator_and_type() {
    assert_eq!(with_rules::operator().rule(), Some(&DerivativeRule("of known")));
    assert_eq!(with_rules::operator().rule(), Some(&PolicyRule(3)));
    assert_eq!(with_rules::operator().rule::<&str>(), None);
    assert_eq!(concurrent_rules::operator().rule::<DerivativeRule>(), None);
}

#[test]
fn a_late_rule_is_found_after_its_registration() {
    assert_eq!(late_rule::operator().rule::<PolicyRule>(), None);
    register_rule(late_rule::operator, PolicyRule(7), Location::caller());
    assert_eq!(late_rule::operator().rule(), Some(&PolicyRule(7)));
}

#[test]
fn of_several_rules_the_first_by_location_is_used_and_verify_lists_all() {
    assert_eq!(duplicate_rules::operator().rule(), Some(&DerivativeRule("first")));
    let findings: Vec<Finding> =
        verify().into_iter().filter(|finding| matches!(finding, Finding::DuplicateRule { .. })).collect();
    let [Finding::DuplicateRule { operator, rule_type, rules }] = &findings[..] else { panic!("{findings:?}") };
    assert_eq!(
        (operator.to_string().as_str(), *rule_type),
        ("rules::duplicate_rules", std::any::type_name::<DerivativeRule>())
    );
    assert_eq!(*rules, [("a.rs", 20), ("b.rs", 1), ("b.rs", 2)].map(|(file, line)| Location::new(file, line)));
    let text = findings[0].to_string();
    assert!(text.contains("rules::duplicate_rules") && text.contains("\n  a.rs:20\n  b.rs:1\n  b.rs:2\n"), "{text}");
}

#[test]
fn registering_a_rule_again_changes_nothing() {
    static RULE: PolicyRule = PolicyRule(1);
    static RECORD: RuleRecord =
        RuleRecord::new(registered_twice::operator, &RULE, Location::new("registered_twice.rs", 1));
    static RECORDS: [Record; 2] = [Record::Rule(&RECORD), Record::Rule(&RECORD)];

    #[op_def("registered_twice(Tensor self) -> Tensor")]
    fn registered_twice(this: &Tensor) -> Result<Tensor>;

    register(&RECORDS);
    register(&RECORDS);
    assert_eq!(registered_twice::operator().rule(), Some(&PolicyRule(1)));
    assert!(!verify().iter().any(|finding| finding.to_string().contains("registered_twice.rs")));
}

#[test]
fn rules_from_several_threads_are_found_during_concurrent_lookups() {
    struct NumberedRule<const N: usize>;

    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut seen = false;
            while !done.load(Ordering::Relaxed) {
                let found = concurrent_rules::operator().rule::<NumberedRule<0>>().is_some();
                assert!(found || !seen, "a rule disappeared");
                seen = found;
            }
        });
        let writers = [
            scope.spawn(|| register_rule(concurrent_rules::operator, NumberedRule::<0>, Location::caller())),
            scope.spawn(|| register_rule(concurrent_rules::operator, NumberedRule::<1>, Location::caller())),
            scope.spawn(|| register_rule(concurrent_rules::operator, NumberedRule::<2>, Location::caller())),
        ];
        let joined = writers.map(thread::ScopedJoinHandle::join);
        done.store(true, Ordering::Relaxed);
        assert!(joined.iter().all(Result::is_ok));
    });
    let operator = concurrent_rules::operator();
    assert!(operator.rule::<NumberedRule<0>>().is_some());
    assert!(operator.rule::<NumberedRule<1>>().is_some());
    assert!(operator.rule::<NumberedRule<2>>().is_some());
}
