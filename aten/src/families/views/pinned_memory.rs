//! Pinned memory: CPU memory that a device reads and writes directly, so that copies are asynchronous.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{Backend, BadArgument, Spec};

/// Returns whether `self` is in memory pinned for `device`, or for any device.
#[op_def("is_pinned(Tensor self, Device? device=None) -> bool")]
pub fn is_pinned(this: &Tensor, device: Option<Device>) -> Result<bool> {
    Ok(memories(device)?.iter().any(|memory| memory.is_pinned(this.storage())))
}

/// Returns `self`, or a copy in memory pinned for `device`, or for the first device that can pin memory.
#[op_def("pin_memory(Tensor(a) self, Device? device=None) -> Tensor(a)")]
pub fn pin_memory(this: &Tensor, device: Option<Device>) -> Result<Tensor> {
    if is_pinned(this, device)? { Ok(this.clone()) } else { _pin_memory(this, device) }
}

/// Copies a tensor to memory pinned for `device`, or for the first device that can pin memory.
#[op_def("_pin_memory(Tensor self, Device? device=None) -> Tensor", body = CompositeExplicitAutograd)]
pub fn _pin_memory(this: &Tensor, device: Option<Device>) -> Result<Tensor> {
    if this.device() != Device::CPU {
        let expected = "a tensor of the CPU: the memory of other devices cannot be pinned";
        return Err(BadArgument::value("self", this.device(), expected).into());
    }
    let mut pinned = room(Spec::like(this, this.dtype()), &memories(device)?)?;
    crate::copy_(&mut pinned, this, false)?;
    Ok(pinned)
}

/// Creates a CPU tensor in memory pinned for `device`, or in ordinary memory if the device cannot pin memory.
pub(crate) fn room_beside(spec: Spec, device: Device) -> Result<Tensor> {
    match room(spec.clone(), &memories(Some(device))?) {
        Err(_) => spec.on(Device::CPU),
        pinned => pinned,
    }
}

/// Creates a tensor in pinned memory of the first backend that has any.
fn room(spec: Spec, memories: &[&'static dyn Backend]) -> Result<Tensor> {
    let elements = spec.geometry.end().and_then(|end| usize::try_from(end).ok());
    let size = elements.and_then(|elements| elements.checked_mul(spec.dtype.size())).unwrap_or(usize::MAX);
    let mut refused = None;
    for memory in memories {
        match memory.allocate_pinned(size) {
            Ok(storage) => return Ok(Tensor::new(storage, spec.dtype, spec.geometry)?),
            Err(error) => refused = Some(error),
        }
    }
    let none = || "no backend of this program can pin memory; link one, or leave the tensor where it is".into();
    Err(refused.unwrap_or_else(none))
}

/// Returns the backends that may pin memory: that of `device`, or those of all linked devices except CPU and Meta.
fn memories(device: Option<Device>) -> Result<Vec<&'static dyn Backend>> {
    match device {
        Some(device) => Ok(vec![device.memory_backend()?]),
        None => Device::linked()
            .into_iter()
            .filter(|device| ![Device::CPU, Device::META].contains(device))
            .map(Device::memory_backend)
            .collect(),
    }
}
