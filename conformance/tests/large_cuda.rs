//! Calls with more than 70,000 elements on CUDA: on a device where there is one, and otherwise on the CPU, which runs the kernels as they
//! are. One dtype of each kind is tried, along memory and across, as an emulated device is slow.

use conformance::{Check, Suite};
use dispatch_runtime::DType;
use kernels_cpu as _;
use test_tools::Tool;

/// Holds half of the operators to what they give for few elements.
fn holds(half: usize) {
    let there_is_one = kernels_cuda::is_available() || kernels_cuda::emulate();
    let answer = there_is_one.then_some(()).ok_or("there is no device, and no C++ compiler to emulate one with");
    let Some(()) = test_tools::found(Tool::Emulator, answer) else { return };
    // An emulated device does one thing at a time, so each half has one of its own.
    let device = format!("cuda:{}", half % kernels_cuda::count()).parse().unwrap();
    kernels_cuda::prepare(device).unwrap();
    let suite = Suite::new(device).part(half, 2).without(DType::C64).without(DType::C128);
    let report = suite.check(Check::Large).run().unwrap();
    let failed: Vec<String> = report.failed().iter().map(ToString::to_string).collect();
    assert!(failed.is_empty(), "{}\n\n{report}", failed.join("\n"));
    assert!(report.tally(Check::Large).passed > 400, "{report}");
}

#[test]
fn half_of_the_operators_of_cuda_give_for_many_elements_what_the_cpu_gives_for_few() {
    holds(0);
}

#[test]
fn the_other_operators_of_cuda_give_for_many_elements_what_the_cpu_gives_for_few() {
    holds(1);
}
