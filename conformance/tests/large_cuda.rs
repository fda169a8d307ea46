//! Calls with more than 70,000 elements on CUDA: on a device where there is one, and otherwise on the CPU, which runs the kernels as they
//! are. One dtype of each kind is tried, along memory and across, as an emulated device is slow.

use conformance::Check;
use kernels_cpu as _;

mod devices;

#[test]
fn operators_of_cuda_give_for_many_elements_what_the_cpu_gives_for_few() {
    let Some(devices) = devices::found() else { return };
    let suite = devices::suite(devices[0]);
    let report = suite.check(Check::Large).run_on(&devices).unwrap();
    let failed: Vec<String> = report.failed().iter().map(ToString::to_string).collect();
    assert!(failed.is_empty(), "{}\n\n{report}", failed.join("\n"));
    assert!(report.tally(Check::Large).passed > 800, "{report}");
}
