//! The CUDA backend, held to the recordings: on a device where there is one, and otherwise on the CPU, which runs the kernels as they are.

use conformance::{Check, State, Suite};
use dispatch_runtime::DType;
use kernels_cpu as _;
use test_tools::Tool;

#[test]
fn golden_half_of_the_operators_of_cuda_agree_with_their_recordings() {
    holds(0);
}

#[test]
fn golden_the_other_operators_of_cuda_agree_with_their_recordings() {
    holds(1);
}

fn holds(half: usize) {
    let there_is_one = kernels_cuda::is_available() || kernels_cuda::emulate();
    let answer = there_is_one.then_some(()).ok_or("there is no device, and no C++ compiler to emulate one with");
    let Some(()) = test_tools::found(Tool::Emulator, answer) else { return };
    // An emulated device does one thing at a time, so each half has one of its own.
    let device = format!("cuda:{}", half % kernels_cuda::count()).parse().unwrap();
    kernels_cuda::prepare(device).unwrap();
    let suite = Suite::new(device).part(half, 2).without(DType::C64).without(DType::C128);
    // What becomes of a batch is for a layer to say, and the CPU shows it. Large calls have a test of their own.
    let others = [Check::Vmap, Check::BatchRules, Check::Large];
    let of_backends = Check::ALL.into_iter().filter(|check| !others.contains(check));
    let report = of_backends.fold(suite, Suite::check).run().unwrap();
    let failed: Vec<String> = report.failed().iter().map(ToString::to_string).collect();
    assert!(failed.is_empty(), "{}\n\n{report}", failed.join("\n"));
    assert!(report.count(State::Passed) > 300, "{report}");
}
