//! The CUDA devices of a test, real or emulated, and the suite for them.

use conformance::Suite;
use dispatch_runtime::{DType, Device};
use test_tools::Tool;

/// Returns a device for each of two threads, or `None` without devices and emulator. An emulated device runs one operation at a time.
pub(crate) fn available_devices() -> Option<[Device; 2]> {
    let there_is_one = kernels_cuda::is_available() || kernels_cuda::emulate();
    let answer = there_is_one.then_some(()).ok_or("there is no device, and no C++ compiler to emulate one with");
    test_tools::tool_or_skip(Tool::Emulator, answer)?;
    let devices = [0, 1].map(|index| format!("cuda:{}", index % kernels_cuda::device_count()).parse().unwrap());
    kernels_cuda::load_all_kernels(devices[0]).unwrap();
    Some(devices)
}

/// Returns the suite for CUDA, without complex dtypes. PyTorch resizes images of bytes only on the CPU. The conjugate of a transform is
/// complex, and there is no kernel of transforms.
pub(crate) fn sampled_cuda_suite(device: Device) -> Suite {
    let suite = Suite::new(device)
        .without_dtype(DType::C64)
        .without_dtype(DType::C128)
        .accept_device_differences()
        .with_sampled_calls();
    let suite =
        suite.without_calls_of("upsample_bilinear2d", DType::U8).without_calls_of("upsample_bicubic2d", DType::U8);
    DType::ALL.into_iter().fold(suite, |suite, dtype| suite.without_calls_of("fft_hfft", dtype))
}
