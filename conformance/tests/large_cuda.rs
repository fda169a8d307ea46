//! Test of calls with more than 70,000 elements on CUDA: on a device if there is one, and otherwise with the kernels emulated on the CPU.
//! As an emulated device is slow, it uses one dtype of each category, and contiguous and strided lines.

use conformance::Check;
use kernels_cpu as _;

mod devices;

#[test]
fn large_calls_of_cuda_agree_with_combined_small_calls_of_the_cpu() {
    let Some(devices) = devices::available_devices() else { return };
    let suite = devices::sampled_cuda_suite(devices[0]);
    let report = suite.only_check(Check::Large).run_on_devices(&devices).unwrap();
    let failed: Vec<String> = report.failed_checks().iter().map(ToString::to_string).collect();
    assert!(failed.is_empty(), "{}\n\n{report}", failed.join("\n"));
    assert!(report.tally(Check::Large).passed > 800, "{report}");
}
