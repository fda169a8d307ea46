//! Test of calls with more than 70,000 elements on CUDA: on a device if there is one, and otherwise with the kernels emulated on the CPU.
//! As an emulated device is slow, it uses one dtype of each category, and contiguous and strided lines.

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
