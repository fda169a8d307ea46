//! Copies between tensors and devices, with conversion.
#![expect(unsafe_code, reason = "kernels are native code")]

use std::ptr::NonNull;

use dispatch_runtime::{
    AccessError, DType, Device, Geometry, MemoryFormat, Result, Spec, Storage, Tensor, TransferHold,
};

use crate::device::pinned_memory;
use crate::engine::data_movement::try_transpose_copy;
use crate::engine::elementwise::{Loops, REAL_DTYPES, convert_into, has_strided_loop};
use crate::engine::scalars::is_cpu_scalar;
use crate::engine::walk::element_size;
use crate::graph;
use crate::kernel::Kernel;
use crate::launch::Launch;

pub(crate) static COPY_LOOPS: Loops = Loops {
    // SAFETY: `Loops` are launched by elementwise.rs alone, which passes addresses inside of the operands; the loop returns its element.
    kernel: unsafe {
        Kernel::new(
            "copy",
            "#include \"functions.cuh\"
struct Operator {
    enum { OPERANDS = 1, SCALARS = 0 };
    template <class O, class C> static __device__ __forceinline__ C of(C x) { return x; }
};
#include \"elementwise.cuh\"
",
            |instances| {
                for (class, dtype) in
                    REAL_DTYPES.iter().filter_map(|&dtype| Some((COPY_LOOPS.compute_dtype(dtype)?, dtype)))
                {
                    instances.add("contiguous", &[class, dtype, dtype]);
                    if has_strided_loop(dtype) {
                        instances.add("strided", &[class, dtype, dtype]);
                    }
                    for other in REAL_DTYPES
                        .into_iter()
                        .filter(|other| *other != dtype && other.is_floating() && dtype.is_floating())
                    {
                        instances.add("contiguous", &[class, other, dtype]);
                    }
                }
                instances.add_for_each_dtype("mixed_dtypes", COPY_LOOPS.compute_dtypes);
            },
        )
    },
    compute_dtypes: &[DType::F32, DType::F64, DType::I32, DType::I64],
    marks: &[],
};
crate::register_kernel!(COPY_LOOPS.kernel);

/// Copies elements from any device into a CUDA tensor, and converts them.
pub(crate) fn copy_into(to: &mut Tensor, from: &Tensor) -> Result<()> {
    copy_between_devices(to, from, false)
}

/// Copies elements from the same device, or a CPU scalar, into a CUDA tensor, and converts them.
fn convert_on_device(to: &mut Tensor, from: &Tensor) -> Result<()> {
    if !is_cpu_scalar(from) && try_transpose_copy(to, from)? {
        return Ok(());
    }
    if to.dtype().is_float8() && to.dtype() == from.dtype() && !is_cpu_scalar(from) {
        // A copy keeps the bits of NaN.
        let bytes = |tensor: &Tensor| Tensor::new(tensor.storage().clone(), DType::U8, tensor.geometry().clone());
        return convert_into(&COPY_LOOPS, &mut bytes(to)?, &bytes(from)?);
    }
    convert_into(&COPY_LOOPS, to, from)
}

/// Copies elements from any device into a CUDA tensor, and converts them. With `non_blocking`, a copy from pinned memory does not wait.
pub(crate) fn copy_between_devices(to: &mut Tensor, from: &Tensor, non_blocking: bool) -> Result<()> {
    if to.geometry().count() == 0 {
        return Ok(());
    }
    let there = Device::CPU.key();
    if is_cpu_scalar(from) || from.device() == to.device() {
        convert_on_device(to, from)
    } else if from.device().key() == there {
        let from = aten::contiguous(from, MemoryFormat::Contiguous)?;
        let same_layout =
            to.dtype() == from.dtype() && to.geometry().is_contiguous() && to.geometry().same_sizes(from.geometry());
        if same_layout {
            return upload(to, &from, non_blocking);
        }
        let mut staged = Spec::contiguous(from.dtype(), from.sizes()).on(to.device())?;
        upload(&mut staged, &from, non_blocking)?;
        convert_on_device(to, &staged)
    } else {
        // A storage is copied from its first byte.
        let begins = from.geometry().offset() == 0;
        let from = if begins { contiguous(from, from.dtype())? } else { contiguous_copy(from, from.dtype())? };
        let staged = Spec::contiguous(from.dtype(), from.sizes()).on(to.device())?;
        to.device().memory_backend()?.copy_between(from.storage(), staged.storage())?;
        convert_on_device(to, &staged)
    }
}

/// Returns a contiguous tensor with the same elements in a dtype: the tensor itself if it is one already.
pub(crate) fn contiguous(tensor: &Tensor, dtype: DType) -> Result<Tensor> {
    if tensor.dtype() == dtype && tensor.geometry().is_contiguous() && !is_cpu_scalar(tensor) {
        return Ok(tensor.clone());
    }
    contiguous_copy(tensor, dtype)
}

/// Returns a tensor with the same elements on a device: the tensor itself if it is there already.
pub(crate) fn to_device(tensor: &Tensor, device: Device) -> Result<Tensor> {
    if tensor.device() == device {
        return Ok(tensor.clone());
    }
    let mut there = Spec::contiguous(tensor.dtype(), tensor.sizes()).on(device)?;
    copy_into(&mut there, tensor)?;
    Ok(there)
}

/// Returns a contiguous tensor of a dtype: `tensor` broadcast to the sizes of `like`. A CPU scalar is moved to the device of `like`.
pub(crate) fn broadcast_contiguous(tensor: &Tensor, like: &Tensor, dtype: DType) -> Result<Tensor> {
    if !is_cpu_scalar(tensor) {
        return contiguous(&aten::expand(tensor, like.sizes(), false)?, dtype);
    }
    let mut all = Spec::contiguous(dtype, like.sizes()).on(like.device())?;
    copy_into(&mut all, tensor)?;
    Ok(all)
}

/// Returns a fresh contiguous tensor with the same elements in a dtype.
pub(crate) fn contiguous_copy(tensor: &Tensor, dtype: DType) -> Result<Tensor> {
    let mut copy = Spec::contiguous(dtype, tensor.sizes()).on(tensor.device())?;
    if copy.geometry().count() > 0 {
        convert_on_device(&mut copy, tensor)?;
    }
    Ok(copy)
}

/// Computes a result into a contiguous tensor of a dtype: into `out` itself if it is one, or else into a fresh one, which is then converted
/// into `out`.
pub(crate) fn with_contiguous_output(
    out: &mut Tensor,
    dtype: DType,
    compute: impl FnOnce(&mut Tensor) -> Result<()>,
) -> Result<()> {
    if out.dtype() == dtype && out.geometry().is_contiguous() {
        return compute(out);
    }
    let mut contiguous = Spec::contiguous(dtype, out.sizes()).on(out.device())?;
    compute(&mut contiguous)?;
    copy_into(out, &contiguous)
}

/// Copies a CPU tensor to a CUDA tensor. Both are contiguous and have the same dtype.
fn upload(to: &mut Tensor, from: &Tensor, non_blocking: bool) -> Result<()> {
    let launch = Launch::on_device_of(to)?;
    let (gpu, address) = (launch.gpu, launch.pointer(to)?.address());
    if !can_copy_asynchronously(from, non_blocking) {
        return Ok(gpu.copy_host_to_device(&view_as_bytes(from)?.read::<u8>()?, address, launch.stream)?);
    }
    let held = from.storage().hold_for_reading()?;
    let (start, size) = host_pointer_and_size(from, &held)?;
    gpu.driver.copy_host_to_device(start, address, size, launch.stream)?;
    Ok(gpu.transfers.hold_until_done(gpu, launch.stream, held)?)
}

/// Copies a CUDA tensor to a CPU tensor, and converts it. With `non_blocking`, a copy to pinned memory does not wait.
pub(crate) fn download(to: &mut Tensor, from: &Tensor, non_blocking: bool) -> Result<()> {
    let from = contiguous(from, to.dtype())?;
    let (launch, same_sizes) = (Launch::on_device_of(&from)?, to.geometry().same_sizes(from.geometry()));
    let pointer = launch.pointer(&from)?;
    if !to.geometry().is_contiguous() || !same_sizes {
        let host = Spec::contiguous(from.dtype(), from.sizes()).on(Device::CPU)?;
        launch.copy_device_to_host(pointer, &mut view_as_bytes(&host)?.write::<u8>()?)?;
        return aten::copy_(to, &host, non_blocking);
    }
    if !can_copy_asynchronously(to, non_blocking) {
        return Ok(launch.copy_device_to_host(pointer, &mut view_as_bytes(to)?.write::<u8>()?)?);
    }
    let (gpu, held) = (launch.gpu, to.storage().hold_for_writing()?);
    let (start, size) = host_pointer_and_size(to, &held)?;
    gpu.driver.copy_device_to_host(pointer.address(), start, size, launch.stream)?;
    Ok(gpu.transfers.hold_until_done(gpu, launch.stream, held)?)
}

/// Whether a copy to or from a contiguous CPU tensor can be asynchronous: the tensor is pinned, and nothing is recorded.
fn can_copy_asynchronously(tensor: &Tensor, non_blocking: bool) -> bool {
    non_blocking
        && pinned_memory::is_pinned(tensor.storage())
        && tensor.geometry().count() > 0
        && !graph::is_recording()
}

/// Returns the first byte and the size in bytes of a contiguous CPU tensor whose memory is held.
fn host_pointer_and_size(tensor: &Tensor, held: &TransferHold) -> Result<(NonNull<u8>, usize)> {
    let bytes = |elements: i64| usize::try_from(elements).unwrap_or(0) * tensor.dtype().size();
    let (offset, size) = (bytes(tensor.geometry().offset()), bytes(tensor.geometry().count()));
    let start = held.address(offset, size).ok_or_else(|| AccessError::NotOnHost { device: tensor.device() })?;
    Ok((start, size))
}

/// Returns the elements of a contiguous CPU tensor as a tensor of bytes.
fn view_as_bytes(tensor: &Tensor) -> Result<Tensor> {
    let size = element_size(tensor);
    let (count, offset) = (tensor.geometry().count() * size, tensor.geometry().offset() * size);
    let storage: Storage = tensor.storage().clone();
    Ok(Tensor::new(
        storage,
        DType::U8,
        Geometry::contiguous(&[count]).with_offset(if count == 0 { 0 } else { offset }),
    )?)
}
