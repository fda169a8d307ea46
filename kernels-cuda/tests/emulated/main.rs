//! Tests that run on a GPU if there is one, and otherwise on the emulated device.
#![cfg(feature = "emulator")]

mod attention;
mod concurrent_writes;
mod error_bound;
mod graphs;
mod heavy_load;
mod large_inputs;
mod memory;
mod memory_errors;
mod misaligned;
mod odd_sizes;
mod pinned;
mod pooling;
mod random;
mod special_functions;
mod streams;
mod tensor_cores;
mod tensors;
mod user_kernels;

use std::sync::{Mutex, MutexGuard, PoisonError};

use dispatch_runtime::prelude::*;
use kernels_cpu as _;
use test_tools::Tool;

/// The lock of each device: faults and memory statistics belong to a device, so one test at a time uses it.
static DEVICE_LOCKS: [Mutex<()>; 2] = [const { Mutex::new(()) }; 2];

/// Returns the first device, locked, or `None` if there is neither a GPU nor a C++ compiler to emulate one.
fn lock_first_device() -> Option<(Device, MutexGuard<'static, ()>)> {
    device_count()?;
    Some((cuda_device(0), lock_device(0)))
}

/// Returns any device that no other test uses, locked, for tests that only check results.
fn lock_free_device() -> Option<(Device, MutexGuard<'static, ()>)> {
    let free =
        (0..device_count()?).rev().find_map(|index| Some((cuda_device(index), DEVICE_LOCKS[index].try_lock().ok()?)));
    free.or_else(lock_first_device)
}

fn lock_device(index: usize) -> MutexGuard<'static, ()> {
    DEVICE_LOCKS[index].lock().unwrap_or_else(PoisonError::into_inner)
}

fn cuda_device(index: usize) -> Device {
    format!("cuda:{index}").parse().unwrap()
}

fn device_count() -> Option<usize> {
    let is_available = kernels_cuda::is_available() || kernels_cuda::emulate();
    let answer = is_available.then_some(()).ok_or("there is no GPU, and no C++ compiler to emulate one");
    test_tools::tool_or_skip(Tool::Emulator, answer)?;
    Some(kernels_cuda::device_count().min(DEVICE_LOCKS.len()))
}

/// A guard during which blocks and threads run in reverse order.
struct ReverseThreadOrderGuard;

impl ReverseThreadOrderGuard {
    fn set(reversed: bool) -> Self {
        kernels_cuda::emulate_reverse_order(reversed);
        Self
    }
}

impl Drop for ReverseThreadOrderGuard {
    fn drop(&mut self) {
        kernels_cuda::emulate_reverse_order(false);
    }
}

fn copy_to_device(tensor: &Tensor, device: Device) -> Tensor {
    aten::to_device(tensor, device, tensor.dtype(), false, false, None).unwrap()
}

fn to_f32_vec(tensor: &Tensor) -> Vec<f32> {
    copy_to_device(tensor, Device::CPU).to_vec().unwrap()
}
