//! What holds on any device, tried on one where there is one, and otherwise on the CPU, which emulates it.
#![cfg(feature = "emulator")]

mod attention;
mod bound;
mod contention;
mod machine;
mod many;
mod offsets;
mod pinned;
mod pooling;
mod races;
mod random;
mod sizes;
mod special;
mod strict;
mod tensor_cores;

use std::sync::{Mutex, MutexGuard, PoisonError};

use dispatch_runtime::prelude::*;
use kernels_cpu as _;
use test_tools::Tool;

/// Faults, memory and the order of blocks are the process's: one test at a time looks at them.
static ALONE: Mutex<()> = Mutex::new(());

/// A device, or none where the system has no C++ compiler to emulate one with.
fn device() -> Option<(Device, MutexGuard<'static, ()>)> {
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let there_is_one = kernels_cuda::is_available() || kernels_cuda::emulate();
    let answer = there_is_one.then_some("cuda:0").ok_or("there is no device, and no C++ compiler to emulate one with");
    let name = test_tools::found(Tool::Emulator, answer)?;
    Some((name.parse().unwrap(), alone))
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
