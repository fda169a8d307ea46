//! The devices of CUDA that a test runs on, and the suite for them.

use conformance::Suite;
use dispatch_runtime::{DType, Device};
use test_tools::Tool;

/// One for each of two threads: real ones, or emulated ones. An emulated device does one thing at a time.
pub(crate) fn found() -> Option<[Device; 2]> {
    let there_is_one = kernels_cuda::is_available() || kernels_cuda::emulate();
    let answer = there_is_one.then_some(()).ok_or("there is no device, and no C++ compiler to emulate one with");
    test_tools::found(Tool::Emulator, answer)?;
    let devices = [0, 1].map(|index| format!("cuda:{}", index % kernels_cuda::count()).parse().unwrap());
    kernels_cuda::prepare(devices[0]).unwrap();
    Some(devices)
}

/// The suite for CUDA, which has no complex dtypes. PyTorch resizes bytes on the CPU alone.
pub(crate) fn suite(device: Device) -> Suite {
    let suite = Suite::new(device).without(DType::C64).without(DType::C128).device_differences().sampled();
    suite.without_call("upsample_bilinear2d", DType::U8).without_call("upsample_bicubic2d", DType::U8)
}
