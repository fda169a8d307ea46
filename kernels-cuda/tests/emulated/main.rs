//! What holds on any device, tried on one where there is one, and otherwise on the CPU, which emulates it.
#![cfg(feature = "emulator")]

mod attention;
mod concurrent_writes;
mod contention;
mod error_bound;
mod graphs;
mod kernels;
mod large_inputs;
mod memory;
mod memory_errors;
mod misaligned;
mod odd_sizes;
mod pinned;
mod pooling;
mod random;
mod special;
mod streams;
mod tensor_cores;
mod tensors;

use std::sync::{Mutex, MutexGuard, PoisonError};

use dispatch_runtime::prelude::*;
use kernels_cpu as _;
use test_tools::Tool;

/// Faults and memory are a device's: one test at a time has it.
static ALONE: [Mutex<()>; 2] = [const { Mutex::new(()) }; 2];

/// The first device, or none where the system has no C++ compiler to emulate one with.
fn device() -> Option<(Device, MutexGuard<'static, ()>)> {
    devices()?;
    Some((named(0), alone(0)))
}

/// One that no other test has, for tests that look at results alone.
fn free_device() -> Option<(Device, MutexGuard<'static, ()>)> {
    let free = (0..devices()?).rev().find_map(|index| Some((named(index), ALONE[index].try_lock().ok()?)));
    free.or_else(device)
}

fn alone(index: usize) -> MutexGuard<'static, ()> {
    ALONE[index].lock().unwrap_or_else(PoisonError::into_inner)
}

fn named(index: usize) -> Device {
    format!("cuda:{index}").parse().unwrap()
}

fn devices() -> Option<usize> {
    let there_is_one = kernels_cuda::is_available() || kernels_cuda::emulate();
    let answer = there_is_one.then_some(()).ok_or("there is no device, and no C++ compiler to emulate one with");
    test_tools::found(Tool::Emulator, answer)?;
    Some(kernels_cuda::count().min(ALONE.len()))
}

/// Blocks and threads come in any order: for a while, the last one first.
struct Backwards;

impl Backwards {
    fn on(backwards: bool) -> Self {
        kernels_cuda::emulate_backwards(backwards);
        Self
    }
}

impl Drop for Backwards {
    fn drop(&mut self) {
        kernels_cuda::emulate_backwards(false);
    }
}

fn to(tensor: &Tensor, device: Device) -> Tensor {
    aten::to_device(tensor, device, tensor.dtype(), false, false, None).unwrap()
}

fn numbers(tensor: &Tensor) -> Vec<f32> {
    to(tensor, Device::CPU).to_vec().unwrap()
}
