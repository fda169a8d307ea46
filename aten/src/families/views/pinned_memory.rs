//! Pinned memory: CPU memory that a device reads and writes directly, so that copies are asynchronous.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{Backend, BadArgument, Spec};

/// Returns whether `self` is in memory pinned for `device`, or for any device.
#[op_def("is_pinned(Tensor self, Device? device=None) -> bool")]
pub fn is_pinned(this: &Tensor, device: Option<Device>) -> Result<bool> {
    Ok(pinning_backends(device)?.iter().any(|backend| backend.is_pinned(this.storage())))
}

/// Returns `self`, or a copy in memory pinned for `device`, or for the first device that can pin memory.
#[op_def("pin_memory(Tensor(a) self, Device? device=None) -> Tensor(a)")]
pub fn pin_memory(this: &Tensor, device: Option<Device>) -> Result<Tensor> {
    if is_pinned(this, device)? { Ok(this.clone()) } else { _pin_memory(this, device) }
}

/// Copies a tensor to memory pinned for `device`, or for the first device that can pin memory.
#[op_def("_pin_memory(Tensor self, Device? device=None) -> Tensor", out = "out", body = CompositeExplicitAutograd)]
pub fn _pin_memory(this: &Tensor, device: Option<Device>) -> Result<Tensor> {
    if this.device() != Device::CPU {
        let expected = "a tensor on the CPU, as the memory of other devices cannot be pinned";
        return Err(BadArgument::value("self", this.device(), expected).into());
    }
    let mut pinned = pinned_tensor(Spec::like(this, this.dtype()), &pinning_backends(device)?)?;
    crate::copy_(&mut pinned, this, false)?;
    Ok(pinned)
}

/// Creates a CPU tensor in memory pinned for `device`, or in ordinary memory if the device cannot pin memory.
pub(crate) fn pinned_or_pageable_tensor(spec: Spec, device: Device) -> Result<Tensor> {
    match pinned_tensor(spec.clone(), &pinning_backends(Some(device))?) {
        Err(_) => spec.on(Device::CPU),
        pinned => pinned,
    }
}

/// Creates a tensor in pinned memory of the first backend that has any.
fn pinned_tensor(spec: Spec, backends: &[&'static dyn Backend]) -> Result<Tensor> {
    let elements = spec.geometry.end().and_then(|end| usize::try_from(end).ok());
    let size = elements.and_then(|elements| elements.checked_mul(spec.dtype.size())).unwrap_or(usize::MAX);
    let mut last_error = None;
    for backend in backends {
        match backend.allocate_pinned(size) {
            Ok(storage) => return Ok(Tensor::new(storage, spec.dtype, spec.geometry)?),
            Err(error) => last_error = Some(error),
        }
    }
    let no_backend =
        || "no linked backend can pin memory; link one that can, or use the tensor in ordinary memory".into();
    Err(last_error.unwrap_or_else(no_backend))
}

/// Returns the backends that may pin memory: that of `device`, or those of all linked devices except CPU and Meta.
fn pinning_backends(device: Option<Device>) -> Result<Vec<&'static dyn Backend>> {
    match device {
        Some(device) => Ok(vec![device.memory_backend()?]),
        None => Device::all_linked()
            .into_iter()
            .filter(|device| ![Device::CPU, Device::META].contains(device))
            .map(Device::memory_backend)
            .collect(),
    }
}
