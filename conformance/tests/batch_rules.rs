//! Test of batch rules: enough operators need no loop over slices within `vmap`.

use conformance::{Check, Suite};
use dispatch_runtime::Device;
use kernels_cpu as _;

#[test]
fn golden_most_operators_have_a_rule_for_batches_of_their_own() {
    let report = Suite::new(Device::CPU).check(Check::BatchRules).run_on(&[Device::CPU; 2]).unwrap();
    let count = report.wholly(Check::BatchRules);
    println!("{count} operators have a rule for batches that serves all of their recorded calls");
    assert!(count >= 150, "{count}\n\n{report}");
}
