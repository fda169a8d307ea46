//! The outputs that the caller of a form brings.

use crate::error::{BadArgument, Problem, Result};
use crate::key::Device;
use crate::memory::Storage;
use crate::registration::assign;
use crate::spec::Spec;
use crate::tensor::Tensor;

/// An output that the caller brings, and the tensor that the kernel writes in its place.
pub struct Target<'a> {
    bound: &'a mut Tensor,
    /// The tensor that the caller's handle shows after the call, if it is another one.
    fitted: Option<Tensor>,
    /// The tensor that the kernel writes, if that is not the caller's memory.
    fresh: Option<Tensor>,
    _write: Option<Write>,
}

/// A write to memory that others may have seen, on a device that runs behind the CPU.
struct Write(Storage);

impl Write {
    fn begin(tensor: &Tensor) -> Result<Self> {
        let storage = tensor.storage().clone();
        tensor.device().available_memory()?.note_write(&storage)?;
        storage.bump_version();
        Ok(Self(storage))
    }
}

impl Drop for Write {
    fn drop(&mut self) {
        // The beginning succeeded, and the kernel has reported what went wrong since.
        let _ = self.0.device().available_memory().and_then(|memory| memory.note_write(&self.0));
    }
}

/// The outputs that a kernel can write directly, beside those that are as its plan says.
#[derive(Clone, Copy, Debug)]
pub struct Writes {
    /// An output may be the elements of an input.
    pub in_place: bool,
    /// An output may have any strides.
    pub strided: bool,
    /// An output may be of any dtype that the result converts to.
    pub converts: bool,
}

impl<'a> Target<'a> {
    /// Checks that a result of this kind may be written into `tensor`, and decides where the kernel writes it.
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
                !is_same && !read.is_apart_from_or_same_as(written)
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
        // On the CPU, the kernel's own guard says that it writes.
        let behind = ![Device::CPU, Device::META].contains(&written.device());
        let write = if is_direct && behind { Some(Write::begin(written)?) } else { None };
        let fresh = if is_direct { None } else { Some(spec.clone().on(written.device())?) };
        Ok(Self { bound: tensor, fitted, fresh, _write: write })
    }

    /// The tensor that the kernel writes.
    #[inline]
    pub fn tensor(&mut self) -> &mut Tensor {
        self.fresh.as_mut().or(self.fitted.as_mut()).unwrap_or(self.bound)
    }

    /// Gives the caller what the kernel wrote.
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

/// Refuses outputs that share memory with each other.
pub fn check_outputs_apart(outputs: &[(&'static str, &Tensor)]) -> Result<()> {
    for (i, (name, output)) in outputs.iter().enumerate() {
        for (other, before) in &outputs[..i] {
            if before.is_same_elements_as(output) || !before.is_apart_from_or_same_as(output) {
                return Err(BadArgument::new(*name, Problem::Overlap { with: (*other).into() }).into());
            }
        }
    }
    Ok(())
}

/// An argument that holds tensors.
pub trait Tensors {
    /// Calls `look` with each tensor until it returns true.
    fn any(&self, look: &mut dyn FnMut(&Tensor) -> bool) -> bool;

    /// The device of results that are made from this argument.
    fn place(&self) -> Option<Device> {
        let mut found = None;
        self.any(&mut |tensor| {
            // A single number on the CPU goes with tensors of any device.
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

/// The device of the results, given the device that earlier arguments decide.
#[inline(always)]
pub fn place(found: Option<Device>, argument: &impl Tensors) -> Option<Device> {
    match found {
        Some(device) if device != Device::CPU => found,
        _ => argument.place().or(found),
    }
}
