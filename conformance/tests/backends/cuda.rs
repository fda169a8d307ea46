//! Test that the CUDA backend agrees with the recordings: on a device if there is one, and otherwise with the kernels emulated on the CPU.

use conformance::{Check, OperatorState, Suite};

use crate::{assert_no_failures, devices};

#[test]
fn golden_the_operators_of_cuda_agree_with_their_recordings() {
    let Some(devices) = devices::available_devices() else { return };
    let suite = devices::sampled_cuda_suite(devices[0]);
    // Batches depend on the vmap layer, which the CPU tests check. Large calls have a separate test. Calls of other dtypes and sizes are
    // checked by `opcheck`.
    let others = [Check::Vmap, Check::BatchRules, Check::Large, Check::Changes];
    let of_backends = Check::ALL.into_iter().filter(|check| !others.contains(check));
    let report = of_backends.fold(suite, Suite::only_check).run_on_devices(&devices).unwrap();
    assert_no_failures(&report);
    assert!(report.operator_count(OperatorState::Passed) > 600, "{report}");
}
