//! How many operators need no loop over slices in mapped functions.

use conformance::{Check, Suite};
use dispatch_runtime::Device;
use kernels_cpu as _;

#[test]
fn golden_most_operators_have_a_rule_for_batches_of_their_own() {
    holds(0);
}

#[test]
fn golden_most_of_the_other_operators_have_one() {
    holds(1);
}

fn holds(half: usize) {
    let report = Suite::new(Device::CPU).part(half, 2).check(Check::BatchRules).run().unwrap();
    let count = report.wholly(Check::BatchRules);
    println!("{count} operators have a rule for batches that serves all of their recorded calls");
    assert!(count >= 75, "{count}\n\n{report}");
}
