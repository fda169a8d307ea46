//! Tests of calls with more than 70,000 elements on the CPU.

use conformance::{Check, Suite, large};
use dispatch_runtime::Device;

use crate::assert_no_failures;

#[test]
fn every_operator_of_the_families_has_a_large_call_or_a_reason_for_none() {
    assert_eq!(large::uncovered_operators(), Vec::<String>::new());
}

#[test]
fn large_calls_agree_with_combined_small_calls() {
    let report = Suite::new(Device::CPU).only_check(Check::Large).run_on_devices(&[Device::CPU; 2]).unwrap();
    assert_no_failures(&report);
    assert_eq!(report.tally(Check::Large).not_implemented, 0, "{report}");
}
