//! Test of calls with more than 70,000 elements on CUDA: on a device if there is one, and otherwise with the kernels emulated on the CPU.
//! As an emulated device is slow, it uses one dtype of each category, and contiguous and strided lines.

use conformance::Check;

use crate::{assert_no_failures, devices};

#[test]
fn large_calls_of_cuda_agree_with_combined_small_calls_of_the_cpu() {
    let Some(devices) = devices::available_devices() else { return };
    let suite = devices::sampled_cuda_suite(devices[0]);
    let report = suite.only_check(Check::Large).run_on_devices(&devices).unwrap();
    assert_no_failures(&report);
    assert!(report.tally(Check::Large).passed > 800, "{report}");
}
