//! Calls without a dispatcher, for comparison: a function pointer, a `dyn` call and a `match`.

use std::hint::black_box;

use dispatch_runtime::{KeySet, Result, Tensor};

use crate::CallLoop;

pub(crate) fn empty_loop(calls: CallLoop<'_>) {
    calls.repeat_call(|a, b| {
        black_box((a, b));
    });
}

type KernelFunction = fn(&Tensor, &Tensor, KeySet) -> Result<Tensor>;

fn return_first(this: &Tensor, _: &Tensor, _: KeySet) -> Result<Tensor> {
    Ok(this.clone())
}

fn return_error(_: &Tensor, _: &Tensor, _: KeySet) -> Result<Tensor> {
    Err(dispatch_runtime::Error::kernel("the kernel is of another backend"))
}

pub(crate) fn call_function_pointer(calls: CallLoop<'_>) {
    let kernel: KernelFunction = black_box(return_first);
    calls.repeat_call(|a, b| kernel(a, b, KeySet::EMPTY));
}

trait Backend {
    fn return_first(&self, this: &Tensor, other: &Tensor) -> Result<Tensor>;
}

struct Cpu;
struct Cuda;

impl Backend for Cpu {
    #[inline(never)]
    fn return_first(&self, this: &Tensor, _: &Tensor) -> Result<Tensor> {
        Ok(this.clone())
    }
}

impl Backend for Cuda {
    #[inline(never)]
    fn return_first(&self, this: &Tensor, other: &Tensor) -> Result<Tensor> {
        return_error(this, other, KeySet::EMPTY)
    }
}

pub(crate) fn call_dyn_trait(calls: CallLoop<'_>) {
    let backends: [&dyn Backend; 2] = [&Cpu, &Cuda];
    let backend = black_box(backends)[0];
    calls.repeat_call(|a, b| black_box(backend).return_first(a, b));
}

/// A closed set of backends, as in frameworks whose devices are an `enum`.
#[derive(Clone, Copy)]
enum Device {
    Cpu,
    Cuda,
    Metal,
}

#[inline(never)]
fn cpu_kernel(this: &Tensor, _: &Tensor) -> Result<Tensor> {
    Ok(this.clone())
}

#[inline(never)]
fn cuda_kernel(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    return_error(other, this, KeySet::EMPTY)
}

#[inline(never)]
fn metal_kernel(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    return_error(this, other, KeySet::FULL)
}

pub(crate) fn call_by_match(calls: CallLoop<'_>) {
    let _ = black_box([Device::Cuda, Device::Metal]);
    calls.repeat_call(|a, b| match black_box(Device::Cpu) {
        Device::Cpu => cpu_kernel(a, b),
        Device::Cuda => cuda_kernel(a, b),
        Device::Metal => metal_kernel(a, b),
    });
}
