//! The CPU backend, held to the recordings.

use conformance::{Check, Suite};
use dispatch_runtime::Device;
use kernels_cpu as _;

#[test]
fn golden_every_operator_of_the_cpu_agrees_with_its_recordings() {
    let report = Suite::new(Device::CPU).check(Check::Values).run().unwrap();
    let failed: Vec<String> = report.failed().iter().map(ToString::to_string).collect();
    assert!(failed.is_empty(), "{}\n\n{report}", failed.join("\n"));
}
