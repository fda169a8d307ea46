//! Calls without a dispatcher, for comparison: a function pointer, a `dyn` call and a `match`.

use std::hint::black_box;

use dispatch_runtime::{KeySet, Result, Tensor};

use crate::Loop;

pub(crate) fn empty(calls: Loop<'_>) {
    calls.repeat(|a, b| {
        black_box((a, b));
    });
}

type Kernel = fn(&Tensor, &Tensor, KeySet) -> Result<Tensor>;

fn return_first(this: &Tensor, _: &Tensor, _: KeySet) -> Result<Tensor> {
    Ok(this.clone())
}

fn return_error(_: &Tensor, _: &Tensor, _: KeySet) -> Result<Tensor> {
    Err(dispatch_runtime::Error::kernel("the kernel is of another backend"))
}

pub(crate) fn function_pointer(calls: Loop<'_>) {
    let kernel: Kernel = black_box(return_first);
    calls.repeat(|a, b| kernel(a, b, KeySet::EMPTY));
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

pub(crate) fn dyn_trait(calls: Loop<'_>) {
    let backends: [&dyn Backend; 2] = [&Cpu, &Cuda];
    let backend = black_box(backends)[0];
    calls.repeat(|a, b| black_box(backend).return_first(a, b));
}

/// A closed set of backends, as in frameworks whose devices are an `enum`.
#[derive(Clone, Copy)]
enum Device {
    Cpu,
    Cuda,
    Metal,
}

#[inline(never)]
fn on_cpu(this: &Tensor, _: &Tensor) -> Result<Tensor> {
    Ok(this.clone())
}

#[inline(never)]
fn on_cuda(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    return_error(other, this, KeySet::EMPTY)
}

#[inline(never)]
fn on_metal(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    return_error(this, other, KeySet::FULL)
}

pub(crate) fn match_backend(calls: Loop<'_>) {
    let _ = black_box([Device::Cuda, Device::Metal]);
    calls.repeat(|a, b| match black_box(Device::Cpu) {
        Device::Cpu => on_cpu(a, b),
        Device::Cuda => on_cuda(a, b),
        Device::Metal => on_metal(a, b),
    });
}
