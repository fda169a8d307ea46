//! Test that the CPU backend agrees with the recordings.

use conformance::{Check, Suite};
use dispatch_runtime::Device;
use kernels_cpu as _;

/// The checks of this test. Other tests check gradients, batch rules, large calls and scalars.
const CHECKS_OF_THIS_TEST: [Check; 9] = [
    Check::Values,
    Check::Meta,
    Check::InPlace,
    Check::Out,
    Check::Layouts,
    Check::Mistakes,
    Check::Siblings,
    Check::Vmap,
    Check::Trace,
];

#[test]
fn golden_the_operators_of_the_cpu_agree_with_their_recordings() {
    let report = CHECKS_OF_THIS_TEST
        .into_iter()
        .fold(Suite::new(Device::CPU), Suite::only_check)
        .run_on_devices(&[Device::CPU; 2])
        .unwrap();
    let failed: Vec<String> = report.failed_checks().iter().map(ToString::to_string).collect();
    assert!(failed.is_empty(), "{}\n\n{report}", failed.join("\n"));
}
