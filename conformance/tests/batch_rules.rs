//! Test of batch rules: enough operators need no loop over slices within `vmap`.

use conformance::{Check, Suite};
use dispatch_runtime::Device;
use kernels_cpu as _;

#[test]
fn golden_most_operators_have_complete_batch_rules() {
    let report = Suite::new(Device::CPU).only_check(Check::BatchRules).run_on_devices(&[Device::CPU; 2]).unwrap();
    let count = report.fully_passed_count(Check::BatchRules);
    println!("{count} operators have a batch rule for all of their recorded calls");
    assert!(count >= 150, "{count}\n\n{report}");
}
