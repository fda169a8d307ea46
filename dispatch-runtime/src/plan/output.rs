//! The output tensors that the caller of an in-place or `out=` form passes.

use crate::error::{BadArgument, Problem, Result};
use crate::key::Device;
use crate::memory::Storage;
use crate::registration::assign;
use crate::spec::Spec;
use crate::tensor::Tensor;

/// An output tensor of the caller, and the tensor that the kernel writes for it.
pub struct Target<'a> {
    bound: &'a mut Tensor,
    /// The tensor to which the caller's handle is bound after the call, if it is another one.
    fitted: Option<Tensor>,
    /// A temporary tensor that the kernel writes, if it does not write the caller's memory.
    fresh: Option<Tensor>,
    _write: Option<Write>,
}

/// A kernel's write to existing memory, on a device that runs asynchronously.
struct Write(Storage);

impl Write {
    fn begin(tensor: &Tensor) -> Result<Self> {
        let storage = tensor.storage().clone();
        tensor.device().checked_memory_backend()?.note_write(&storage)?;
        storage.bump_version();
        Ok(Self(storage))
    }
}

impl Drop for Write {
    fn drop(&mut self) {
        // The error is dropped: `begin` succeeded, and the kernel has reported its own errors.
        let _ = self.0.device().checked_memory_backend().and_then(|memory| memory.note_write(&self.0));
    }
}

/// The outputs that a kernel can write directly, besides those with the dtype and strides of its plan.
#[derive(Clone, Copy, Debug)]
pub struct Writes {
    /// An output may have the same elements as an input.
    pub in_place: bool,
    /// An output may have any strides.
    pub strided: bool,
    /// An output may have any dtype to which the result converts.
    pub converts: bool,
}

impl<'a> Target<'a> {
    /// Checks that a result with this spec may be written to `tensor`, and chooses the tensor that the kernel writes.
    #[inline]
    pub fn new(
        spec: &Spec,
        argument: &'static str,
        tensor: &'a mut Tensor,
        reads: &[(&'static str, &dyn Tensors)],
        writes: Writes,
    ) -> Result<Self> {
        let mut fitted = None;
        if tensor.dtype() != spec.dtype || tensor.sizes() != spec.geometry.sizes() {
            let mut other = tensor.clone();
            spec.fit(argument, &mut other)?;
            if !other.same(tensor) {
                fitted = Some(other);
            }
        }
        let written = fitted.as_ref().unwrap_or(tensor);
        if written.overlaps_itself() {
            return Err(BadArgument::new(argument, Problem::SelfOverlap).into());
        }
        let mut is_input = argument == "self";
        for (name, read) in reads {
            let overlaps = read.any(&mut |read| {
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
        let behind = ![Device::CPU, Device::META].contains(&written.device());
        let write = if is_direct && behind { Some(Write::begin(written)?) } else { None };
        let fresh = if is_direct { None } else { Some(spec.clone().on(written.device())?) };
        Ok(Self { bound: tensor, fitted, fresh, _write: write })
    }

    /// Returns the tensor that the kernel writes.
    #[inline]
    pub fn tensor(&mut self) -> &mut Tensor {
        self.fresh.as_mut().or(self.fitted.as_mut()).unwrap_or(self.bound)
    }

    /// Passes the result to the caller's tensor: copies it, or binds the caller's handle to it, if the kernel wrote another tensor.
    #[inline]
    pub fn finish(self) -> Result<()> {
        let Self { bound, fitted, fresh, _write } = self;
        if let Some(mut fitted) = fitted {
            if let Some(fresh) = fresh {
                assign(&mut fitted, &fresh)?;
            }
            *bound = fitted;
        } else if let Some(fresh) = fresh {
            assign(bound, &fresh)?;
        }
        Ok(())
    }
}

/// Returns an error if outputs share memory with each other.
pub fn check_outputs_apart(outputs: &[(&'static str, &Tensor)]) -> Result<()> {
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
pub trait Tensors {
    /// Calls `look` with each tensor until it returns true.
    fn any(&self, look: &mut dyn FnMut(&Tensor) -> bool) -> bool;

    /// Returns the device of results that are made from this argument.
    fn place(&self) -> Option<Device> {
        let mut found = None;
        self.any(&mut |tensor| {
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

impl Tensors for &Tensor {
    #[inline(always)]
    fn any(&self, look: &mut dyn FnMut(&Tensor) -> bool) -> bool {
        look(self)
    }

    #[inline(always)]
    fn place(&self) -> Option<Device> {
        Some(self.device())
    }
}

impl Tensors for Option<&Tensor> {
    #[inline(always)]
    fn any(&self, look: &mut dyn FnMut(&Tensor) -> bool) -> bool {
        self.is_some_and(look)
    }
}

impl Tensors for &[Tensor] {
    fn any(&self, look: &mut dyn FnMut(&Tensor) -> bool) -> bool {
        self.iter().any(look)
    }
}

impl Tensors for &[Option<Tensor>] {
    fn any(&self, look: &mut dyn FnMut(&Tensor) -> bool) -> bool {
        self.iter().flatten().any(look)
    }
}

/// Returns the device of the results, given the device that earlier arguments determine.
#[inline(always)]
pub fn place(found: Option<Device>, argument: &impl Tensors) -> Option<Device> {
    match found {
        Some(device) if device != Device::CPU => found,
        _ => argument.place().or(found),
    }
}
