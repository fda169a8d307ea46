//! Test that the operators of the crate vision agree with the calls that were recorded from torchvision. Tests of the library conformance
//! know no operators of other authors.

use conformance::{OperatorState, Suite};
use dispatch_runtime::{Device, Operator};
use {dispatch_vision as _, kernels_cpu as _};

#[test]
fn golden_the_operators_of_torchvision_agree_with_their_recordings() {
    let operators = Operator::all().into_iter().map(Operator::name).filter(|name| name.namespace == "torchvision");
    // `_cuda_version` has a result that depends on the library.
    let names = operators.map(|name| name.to_string()).filter(|name| name != "torchvision::_cuda_version");
    let operators: Vec<String> = names.collect();
    assert_eq!(operators.len(), 11);
    let suite = operators.iter().fold(Suite::new(Device::CPU), Suite::only_operator);
    let report = suite.run_on_devices(&[Device::CPU; 2]).unwrap();
    let failed: Vec<String> = report.failed_checks().iter().map(ToString::to_string).collect();
    assert!(failed.is_empty(), "{}\n\n{report}", failed.join("\n"));
    // Recordings of another folder may have none of these operators.
    let has_own_recordings = std::env::var_os("DISPATCH_GOLDEN").is_none();
    assert!(!has_own_recordings || report.operator_count(OperatorState::Passed) == operators.len(), "{report}");
}
