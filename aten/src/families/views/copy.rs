//! Copies: between dtypes, memory formats and devices.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Geometry, Layout, MemoryFormat, Problem, Spec, Storage, broadcast};

use super::pinned_memory::pinned_or_pageable_tensor;

/// Copies the elements of `src` to `self`, converted and broadcast.
#[op_def(
    "copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)",
    plan, float8, operator = Assign, body = CompositeExplicitAutograd
)]
pub fn copy_(this: &mut Tensor, src: &Tensor, non_blocking: bool) -> Result<()> {
    if this.device() == Device::CPU && src.device() == Device::CPU {
        return Err("no linked crate has a copy kernel for the CPU; link one: `use kernels_cpu as _;`".into());
    }
    let host_src = host_copy_if_needed(src)?;
    if this.device() == Device::CPU {
        return copy_(this, &host_src, non_blocking);
    }
    let (storage, device) = (this.storage().clone(), this.device());
    let mut host = if covers_storage(this) {
        Tensor::new(Storage::try_new_host_unzeroed(storage.size())?, this.dtype(), this.geometry().clone())?
    } else {
        host_copy_if_needed(this)?
    };
    copy_(&mut host, &host_src, non_blocking)?;
    device.memory_backend()?.copy_in(&storage_byte_tensor(host.storage())?.read::<u8>()?, &storage)?;
    storage.bump_version();
    Ok(())
}

/// Returns the elements of `src`, broadcast and converted to the sizes and dtype of `self`, with its strides.
#[op_def(
    "copy(Tensor self, Tensor src, bool non_blocking=False) -> Tensor",
    out = "out", body = CompositeExplicitAutograd,
    check = crate::check_broadcasts_to_tensor(("src", src), ("self", this))
)]
pub fn copy(_: ...) -> Result<Tensor> {
    let mut spec = spec_like(this, this.dtype(), None)?;
    if !this.overlaps_itself() {
        spec.geometry = Geometry::strided(this.sizes(), this.strides(), 0).unwrap_or(spec.geometry);
    }
    let mut copied = spec.on(this.device())?;
    copy_(&mut copied, src, non_blocking)?;
    Ok(copied)
}

/// Copies the elements to new memory.
#[op_def(
    "clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor",
    out = "out", body = CompositeExplicitAutograd
)]
pub fn clone(this: &Tensor, memory_format: Option<MemoryFormat>) -> Result<Tensor> {
    let mut copied = spec_like(this, this.dtype(), memory_format)?.on(this.device())?;
    copy_(&mut copied, this, false)?;
    Ok(copied)
}

/// Returns `self`, or a copy if its elements are not in this memory format.
#[op_def("contiguous(Tensor(a) self, *, MemoryFormat memory_format=0) -> Tensor(a)")]
pub fn contiguous(this: &Tensor, memory_format: MemoryFormat) -> Result<Tensor> {
    if memory_format == MemoryFormat::Preserve {
        return Err(BadArgument::value(
            "memory_format",
            memory_format,
            "a memory format other than `preserve`, which changes nothing",
        )
        .into());
    }
    if this.geometry().is_in_format(memory_format) { Ok(this.clone()) } else { clone(this, Some(memory_format)) }
}

/// Copies the elements to another dtype, device or memory format.
#[op_def(
    "_to_copy(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool non_blocking=False, MemoryFormat? memory_format=None) -> Tensor",
    out = "out", body = CompositeExplicitAutograd
)]
pub fn _to_copy(_: ...) -> Result<Tensor> {
    check_strided_layout(layout)?;
    let (dtype, device) = (dtype.unwrap_or_else(|| this.dtype()), device.unwrap_or_else(|| this.device()));
    let (spec, to_host) =
        (spec_like(this, dtype, memory_format)?, device == Device::CPU && this.device() != Device::CPU);
    // A copy to the CPU is asynchronous only if the device can write the memory directly.
    let mut copied = if to_host && pin_memory.unwrap_or(non_blocking) {
        pinned_or_pageable_tensor(spec, this.device())?
    } else {
        spec.on(device)?
    };
    // Meta tensors have no elements to copy.
    if device != Device::META {
        copy_(&mut copied, this, non_blocking)?;
    }
    Ok(copied)
}

/// Returns `self`, or a copy in this dtype. An integer that the dtype cannot represent wraps.
#[op_def(
    "to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)"
)]
pub fn to_dtype(_: ...) -> Result<Tensor> {
    to_copy_if_needed(this, Some(dtype), None, non_blocking, copy, memory_format)
}

/// Returns `self`, or a copy on this device in this dtype.
#[op_def(
    "to.device(Tensor(a) self, Device device, ScalarType dtype, bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)"
)]
pub fn to_device(_: ...) -> Result<Tensor> {
    to_copy_if_needed(this, Some(dtype), Some(device), non_blocking, copy, memory_format)
}

/// Returns `self`, or a copy with the given dtype, device and memory format.
#[op_def(
    "to.dtype_layout(Tensor(a) self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)"
)]
pub fn to_dtype_layout(_: ...) -> Result<Tensor> {
    check_strided_layout(layout)?;
    to_copy_if_needed(this, dtype, device, non_blocking, copy, memory_format)
}

/// Returns `self`, or a copy with the dtype and on the device of `other`.
#[op_def(
    "to.other(Tensor(a) self, Tensor other, bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)"
)]
pub fn to_other(_: ...) -> Result<Tensor> {
    to_copy_if_needed(this, Some(other.dtype()), Some(other.device()), non_blocking, copy, memory_format)
}

/// Returns `self`, or a copy with the dtype and on the device of `other`.
#[op_def("type_as(Tensor self, Tensor other) -> Tensor")]
pub fn type_as(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    to_copy_if_needed(this, Some(other.dtype()), Some(other.device()), false, false, None)
}

/// Returns a tensor like `self` whose elements are all `value`.
#[op_def(
    "fill.Scalar(Tensor self, Scalar value) -> Tensor",
    shape = pointwise, dtype = first, float8, check = crate::check_fill_value("value", value, this.dtype(), this.geometry().count()),
    inplace, out = "Scalar_out", body = CompositeExplicitAutograd
)]
pub fn fill_scalar(this: &Tensor, value: Scalar) -> Result<Tensor> {
    filled_like(this, &Tensor::number(value))
}

/// Returns a tensor like `self` whose elements are all `value`, a tensor of a single element.
#[op_def(
    "fill.Tensor(Tensor self, Tensor value) -> Tensor",
    shape = pointwise(this), dtype = first, float8, check = check_fill_tensor(value), inplace, out = "Tensor_out",
    body = CompositeExplicitAutograd
)]
pub fn fill(this: &Tensor, value: &Tensor) -> Result<Tensor> {
    filled_like(this, value)
}

/// Returns a tensor like `self` whose elements are all zero.
#[op_def(
    "zero(Tensor self) -> Tensor",
    shape = pointwise, dtype = first, float8, inplace, out = "out", body = CompositeExplicitAutograd
)]
pub fn zero(this: &Tensor) -> Result<Tensor> {
    filled_like(this, &Tensor::number(0.into()))
}

#[op_plan(copy_)]
fn copy_in_place_plan(this: &Tensor, src: &Tensor) -> Result<Plan<(), 0>, BadArgument> {
    if src.device() == Device::META && this.device() != Device::META {
        let problem = Problem::Device { found: src.device(), expected: this.device() };
        return Err(BadArgument::new("src", problem));
    }
    let fits = this.sizes() == src.sizes()
        || broadcast([this.sizes(), src.sizes()]).is_ok_and(|sizes| sizes[..] == *this.sizes());
    if !fits {
        let expected = format!("sizes that broadcast to {:?}, the sizes of `self`", this.sizes());
        return Err(BadArgument::sizes("src", src.sizes(), expected));
    }
    Ok(Plan::without_outputs(()))
}

/// Checks that `value`, with which a `fill` operator fills a tensor, has no dimensions.
pub(crate) fn check_fill_tensor(value: &Tensor) -> Result<(), BadArgument> {
    match value.geometry().rank() {
        0 => Ok(()),
        rank => Err(BadArgument::rank("value", rank, 0).because("it fills every element")),
    }
}

/// Checks if writing every element writes every byte of the storage.
fn covers_storage(tensor: &Tensor) -> bool {
    let count = usize::try_from(tensor.geometry().count()).unwrap_or(usize::MAX);
    tensor.geometry().is_dense() && count.checked_mul(tensor.dtype().size()) == Some(tensor.storage().size())
}

/// Returns the tensor itself if it is on the CPU, else a tensor with a CPU copy of its whole storage.
fn host_copy_if_needed(tensor: &Tensor) -> Result<Tensor> {
    if tensor.device() == Device::CPU {
        return Ok(tensor.clone());
    }
    let storage = Storage::try_new_host_unzeroed(tensor.storage().size())?;
    tensor.device().memory_backend()?.copy_out(tensor.storage(), &mut storage_byte_tensor(&storage)?.write::<u8>()?)?;
    Ok(Tensor::new(storage, tensor.dtype(), tensor.geometry().clone())?)
}

/// Returns a storage as a tensor of bytes.
fn storage_byte_tensor(storage: &Storage) -> Result<Tensor> {
    let size = i64::try_from(storage.size()).unwrap_or(i64::MAX);
    Ok(Tensor::new(storage.clone(), DType::U8, Geometry::contiguous(&[size]))?)
}

/// Returns a spec with the sizes of `like`, in the given memory format or else in that of `like`.
fn spec_like(like: &Tensor, dtype: DType, format: Option<MemoryFormat>) -> Result<Spec, BadArgument> {
    match format {
        None | Some(MemoryFormat::Preserve) => Ok(Spec::like(like, dtype)),
        Some(format) => {
            let Some(geometry) = Geometry::in_format(like.sizes(), format) else {
                let expected = format!("a format for {} dimensions", like.sizes().len());
                return Err(BadArgument::value("memory_format", format, expected));
            };
            Ok(Spec { dtype, geometry })
        }
    }
}

fn filled_like(this: &Tensor, value: &Tensor) -> Result<Tensor> {
    let mut filled = spec_like(this, this.dtype(), None)?.on(this.device())?;
    copy_(&mut filled, value, false)?;
    Ok(filled)
}

fn check_strided_layout(layout: Option<Layout>) -> Result<(), BadArgument> {
    match layout {
        None | Some(Layout::Strided) => Ok(()),
        Some(other) => Err(BadArgument::keyword("layout", &other.to_string(), &["torch.strided"])),
    }
}

fn to_copy_if_needed(
    this: &Tensor,
    dtype: Option<DType>,
    device: Option<Device>,
    non_blocking: bool,
    copy: bool,
    format: Option<MemoryFormat>,
) -> Result<Tensor> {
    let is_unchanged = dtype.is_none_or(|dtype| dtype == this.dtype())
        && device.is_none_or(|device| device == this.device())
        && format.is_none_or(|format| format == MemoryFormat::Preserve || this.geometry().is_in_format(format));
    if is_unchanged && !copy {
        return Ok(this.clone());
    }
    _to_copy(this, dtype, None, device, None, non_blocking, format)
}
