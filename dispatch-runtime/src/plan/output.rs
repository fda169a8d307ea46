//! The output tensors that the caller of an in-place or `out=` form passes.

use crate::error::{BadArgument, Problem, Result};
use crate::key::Device;
use crate::memory::Storage;
use crate::registration::assign_elements;
use crate::spec::Spec;
use crate::tensor::Tensor;

/// An output tensor of the caller, and the tensor that the kernel writes for it.
pub struct OutputTensor<'a> {
    caller_tensor: &'a mut Tensor,
    /// The tensor to which the caller's handle is bound after the call, if it is another one.
    resized: Option<Tensor>,
    /// A temporary tensor that the kernel writes, if it does not write the caller's memory.
    temporary: Option<Tensor>,
    _device_write: Option<DeviceWrite>,
}

/// A kernel's write to existing memory, on a device that runs asynchronously.
struct DeviceWrite(Storage);

impl DeviceWrite {
    fn begin(tensor: &Tensor) -> Result<Self> {
        let storage = tensor.storage().clone();
        tensor.device().checked_memory_backend()?.note_kernel_write(&storage)?;
        storage.bump_version();
        Ok(Self(storage))
    }
}

impl Drop for DeviceWrite {
    fn drop(&mut self) {
        // The error is dropped: `begin` succeeded, and the kernel has reported its own errors.
        let _ = self.0.device().checked_memory_backend().and_then(|memory| memory.note_kernel_write(&self.0));
    }
}

/// The outputs that a kernel can write directly, besides those with the dtype and strides of its plan.
#[derive(Clone, Copy, Debug)]
pub struct DirectOutputKinds {
    /// An output may have the same elements as an input.
    pub in_place: bool,
    /// An output may have any strides.
    pub strided: bool,
    /// An output may have any dtype to which the result converts.
    pub converts: bool,
}

impl<'a> OutputTensor<'a> {
    /// Checks that a result with this spec may be written to `tensor`, and chooses the tensor that the kernel writes.
    #[inline]
    pub fn new(
        spec: &Spec,
        argument: &'static str,
        tensor: &'a mut Tensor,
        reads: &[(&'static str, &dyn HasTensors)],
        writes: DirectOutputKinds,
    ) -> Result<Self> {
        let mut resized = None;
        if tensor.dtype() != spec.dtype || tensor.sizes() != spec.geometry.sizes() {
            let mut other = tensor.clone();
            spec.fit_output(argument, &mut other)?;
            if !other.same(tensor) {
                resized = Some(other);
            }
        }
        let written = resized.as_ref().unwrap_or(tensor);
        if written.overlaps_itself() {
            return Err(BadArgument::new(argument, Problem::SelfOverlap).into());
        }
        let mut is_input = argument == "self";
        for (name, read) in reads {
            let overlaps = read.any_tensor_matches(&mut |read| {
                let is_same = read.is_same_elements_as(written);
                is_input |= is_same;
                !is_same && !read.is_disjoint_or_same_elements(written)
            });
            if overlaps {
                return Err(BadArgument::new(argument, Problem::Overlap { with: (*name).into() }).into());
            }
        }
        let has_strides = written.strides() == spec.geometry.strides()
            || written.geometry().is_contiguous() && spec.geometry.is_contiguous();
        let is_direct = (writes.in_place || !is_input)
            && (writes.converts || written.dtype() == spec.dtype)
            && (writes.strided || has_strides);
        // On the CPU, the kernel's own guard records the write.
        let is_asynchronous = ![Device::CPU, Device::META].contains(&written.device());
        let write = if is_direct && is_asynchronous { Some(DeviceWrite::begin(written)?) } else { None };
        let temporary = if is_direct { None } else { Some(spec.clone().on(written.device())?) };
        Ok(Self { caller_tensor: tensor, resized, temporary, _device_write: write })
    }

    /// Returns the tensor that the kernel writes.
    #[inline]
    pub fn written_tensor(&mut self) -> &mut Tensor {
        self.temporary.as_mut().or(self.resized.as_mut()).unwrap_or(self.caller_tensor)
    }

    /// Passes the result to the caller's tensor: copies it, or binds the caller's handle to it, if the kernel wrote another tensor.
    #[inline]
    pub fn finish(self) -> Result<()> {
        let Self { caller_tensor, resized, temporary, _device_write } = self;
        if let Some(mut resized) = resized {
            if let Some(temporary) = temporary {
                assign_elements(&mut resized, &temporary)?;
            }
            *caller_tensor = resized;
        } else if let Some(temporary) = temporary {
            assign_elements(caller_tensor, &temporary)?;
        }
        Ok(())
    }
}

/// Returns an error if outputs share memory with each other.
pub fn check_outputs_disjoint(outputs: &[(&'static str, &Tensor)]) -> Result<()> {
    for (i, (name, output)) in outputs.iter().enumerate() {
        for (other, before) in &outputs[..i] {
            if before.is_same_elements_as(output) || !before.is_disjoint_or_same_elements(output) {
                return Err(BadArgument::new(*name, Problem::Overlap { with: (*other).into() }).into());
            }
        }
    }
    Ok(())
}

/// An argument with tensors.
pub trait HasTensors {
    /// Calls `test` with each tensor until it returns true.
    fn any_tensor_matches(&self, test: &mut dyn FnMut(&Tensor) -> bool) -> bool;

    /// Returns the device of results that are made from this argument.
    fn result_device(&self) -> Option<Device> {
        let mut found = None;
        self.any_tensor_matches(&mut |tensor| {
            // A CPU tensor with rank 0 can be used with tensors on any device.
            let decides = tensor.device() != Device::CPU || tensor.geometry().rank() > 0;
            if decides || found.is_none() {
                found = Some(tensor.device());
            }
            decides
        });
        found
    }
}

impl HasTensors for &Tensor {
    #[inline(always)]
    fn any_tensor_matches(&self, test: &mut dyn FnMut(&Tensor) -> bool) -> bool {
        test(self)
    }

    #[inline(always)]
    fn result_device(&self) -> Option<Device> {
        Some(self.device())
    }
}

impl HasTensors for Option<&Tensor> {
    #[inline(always)]
    fn any_tensor_matches(&self, test: &mut dyn FnMut(&Tensor) -> bool) -> bool {
        self.is_some_and(test)
    }
}

impl HasTensors for &[Tensor] {
    fn any_tensor_matches(&self, test: &mut dyn FnMut(&Tensor) -> bool) -> bool {
        self.iter().any(test)
    }
}

impl HasTensors for &[Option<Tensor>] {
    fn any_tensor_matches(&self, test: &mut dyn FnMut(&Tensor) -> bool) -> bool {
        self.iter().flatten().any(test)
    }
}

/// Returns the device of the results, given the device that earlier arguments determine.
#[inline(always)]
pub fn result_device(found: Option<Device>, argument: &impl HasTensors) -> Option<Device> {
    match found {
        Some(device) if device != Device::CPU => found,
        _ => argument.result_device().or(found),
    }
}
