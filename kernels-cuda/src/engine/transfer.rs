//! Copies between tensors and devices, with conversion.
#![expect(unsafe_code, reason = "kernels are native code")]

use std::ptr::NonNull;

use dispatch_runtime::{
    AccessError, DType, Device, Geometry, MemoryFormat, Result, Spec, Storage, Tensor, TransferHold,
};

use crate::device::pinned_memory;
use crate::engine::data_movement::turned;
use crate::engine::elementwise::{DTYPES, Loops, is_common, transferred};
use crate::engine::number::is_single;
use crate::engine::walk::element_size;
use crate::graph;
use crate::kernel::Kernel;
use crate::launch::Launch;

pub(crate) static COPY: Loops = Loops {
    // SAFETY: `Loops` are launched by elementwise.rs alone, which passes addresses inside of the operands; the loop returns its element.
    kernel: unsafe {
        Kernel::new(
            "copy",
            "#include \"functions.cuh\"
struct Operator {
    enum { OPERANDS = 1, NUMBERS = 0 };
    template <class O, class C> static __device__ __forceinline__ C of(C x) { return x; }
};
#include \"elementwise.cuh\"
",
            |instances| {
                for (class, dtype) in DTYPES.iter().filter_map(|&dtype| Some((COPY.class(dtype)?, dtype))) {
                    instances.one("packed", &[class, dtype, dtype]);
                    if is_common(dtype) {
                        instances.one("strided", &[class, dtype, dtype]);
                    }
                    for other in
                        DTYPES.into_iter().filter(|other| *other != dtype && other.is_floating() && dtype.is_floating())
                    {
                        instances.one("packed", &[class, other, dtype]);
                    }
                }
                instances.each("mixed", COPY.computes);
            },
        )
    },
    computes: &[DType::F32, DType::F64, DType::I32, DType::I64],
    marks: &[],
};
crate::register_kernel!(COPY.kernel);

/// Copies elements from any device into a CUDA tensor, and converts them.
pub(crate) fn write(to: &mut Tensor, from: &Tensor) -> Result<()> {
    transfer(to, from, false)
}

/// Copies elements from the same device, or a CPU scalar, into a CUDA tensor, and converts them.
fn converted(to: &mut Tensor, from: &Tensor) -> Result<()> {
    if !is_single(from) && turned(to, from)? {
        return Ok(());
    }
    transferred(&COPY, to, from)
}

/// Copies elements from any device into a CUDA tensor, and converts them. With `non_blocking`, a copy from pinned memory does not wait.
pub(crate) fn transfer(to: &mut Tensor, from: &Tensor, non_blocking: bool) -> Result<()> {
    if to.geometry().count() == 0 {
        return Ok(());
    }
    let there = Device::CPU.key();
    if is_single(from) || from.device() == to.device() {
        converted(to, from)
    } else if from.device().key() == there {
        let from = aten::contiguous(from, MemoryFormat::Contiguous)?;
        let same_place =
            to.dtype() == from.dtype() && to.geometry().is_contiguous() && to.geometry().same_sizes(from.geometry());
        if same_place {
            return upload(to, &from, non_blocking);
        }
        let mut beside = Spec::contiguous(from.dtype(), from.sizes()).on(to.device())?;
        upload(&mut beside, &from, non_blocking)?;
        converted(to, &beside)
    } else {
        // A storage is copied from its first byte.
        let begins = from.geometry().offset() == 0;
        let from = if begins { contiguous(from, from.dtype())? } else { contiguous_copy(from, from.dtype())? };
        let beside = Spec::contiguous(from.dtype(), from.sizes()).on(to.device())?;
        to.device().memory_backend()?.copy_between(from.storage(), beside.storage())?;
        converted(to, &beside)
    }
}

/// Returns a contiguous tensor with the same elements in a dtype: the tensor itself if it is one already.
pub(crate) fn contiguous(tensor: &Tensor, dtype: DType) -> Result<Tensor> {
    if tensor.dtype() == dtype && tensor.geometry().is_contiguous() && !is_single(tensor) {
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
    write(&mut there, tensor)?;
    Ok(there)
}

/// Returns a contiguous tensor of a dtype: `tensor` broadcast to the sizes of `like`. A CPU scalar is moved to the device of `like`.
pub(crate) fn broadcast_contiguous(tensor: &Tensor, like: &Tensor, dtype: DType) -> Result<Tensor> {
    if !is_single(tensor) {
        return contiguous(&aten::expand(tensor, like.sizes(), false)?, dtype);
    }
    let mut all = Spec::contiguous(dtype, like.sizes()).on(like.device())?;
    write(&mut all, tensor)?;
    Ok(all)
}

/// Returns a fresh contiguous tensor with the same elements in a dtype.
pub(crate) fn contiguous_copy(tensor: &Tensor, dtype: DType) -> Result<Tensor> {
    let mut copy = Spec::contiguous(dtype, tensor.sizes()).on(tensor.device())?;
    if copy.geometry().count() > 0 {
        converted(&mut copy, tensor)?;
    }
    Ok(copy)
}

/// Computes a result into a contiguous tensor of a dtype: into `out` itself if it is one, or else into a fresh one, which is then converted
/// into `out`.
pub(crate) fn computed_contiguous(
    out: &mut Tensor,
    dtype: DType,
    compute: impl FnOnce(&mut Tensor) -> Result<()>,
) -> Result<()> {
    if out.dtype() == dtype && out.geometry().is_contiguous() {
        return compute(out);
    }
    let mut row = Spec::contiguous(dtype, out.sizes()).on(out.device())?;
    compute(&mut row)?;
    write(out, &row)
}

/// Copies a CPU tensor to a CUDA tensor. Both are contiguous and have the same dtype.
fn upload(to: &mut Tensor, from: &Tensor, non_blocking: bool) -> Result<()> {
    let launch = Launch::on(to)?;
    let (gpu, place) = (launch.gpu, launch.place(to)?.address());
    if !is_asynchronous(from, non_blocking) {
        return Ok(gpu.copy_in(&bytes(from)?.read::<u8>()?, place, launch.queue)?);
    }
    let held = from.storage().hold_for_reading()?;
    let (start, size) = host_range(from, &held)?;
    gpu.machine.copy_in(start, place, size, launch.queue)?;
    Ok(gpu.transfers.watch(gpu, launch.queue, held)?)
}

/// Copies a CUDA tensor to a CPU tensor, and converts it. With `non_blocking`, a copy to pinned memory does not wait.
pub(crate) fn download(to: &mut Tensor, from: &Tensor, non_blocking: bool) -> Result<()> {
    let from = contiguous(from, to.dtype())?;
    let (launch, same_sizes) = (Launch::on(&from)?, to.geometry().same_sizes(from.geometry()));
    let place = launch.place(&from)?;
    if !to.geometry().is_contiguous() || !same_sizes {
        let host = Spec::contiguous(from.dtype(), from.sizes()).on(Device::CPU)?;
        launch.copy_out(place, &mut bytes(&host)?.write::<u8>()?)?;
        return aten::copy_(to, &host, non_blocking);
    }
    if !is_asynchronous(to, non_blocking) {
        return Ok(launch.copy_out(place, &mut bytes(to)?.write::<u8>()?)?);
    }
    let (gpu, held) = (launch.gpu, to.storage().hold_for_writing()?);
    let (start, size) = host_range(to, &held)?;
    gpu.machine.copy_out(place.address(), start, size, launch.queue)?;
    Ok(gpu.transfers.watch(gpu, launch.queue, held)?)
}

/// Whether a copy to or from a contiguous CPU tensor can be asynchronous: the tensor is pinned, and nothing is recorded.
fn is_asynchronous(tensor: &Tensor, non_blocking: bool) -> bool {
    non_blocking
        && pinned_memory::is_pinned(tensor.storage())
        && tensor.geometry().count() > 0
        && !graph::is_recording()
}

/// Returns the first byte and the size in bytes of a contiguous CPU tensor whose memory is held.
fn host_range(tensor: &Tensor, held: &TransferHold) -> Result<(NonNull<u8>, usize)> {
    let bytes = |elements: i64| usize::try_from(elements).unwrap_or(0) * tensor.dtype().size();
    let (offset, size) = (bytes(tensor.geometry().offset()), bytes(tensor.geometry().count()));
    let start = held.address(offset, size).ok_or_else(|| AccessError::NotOnHost { device: tensor.device() })?;
    Ok((start, size))
}

/// Returns the elements of a contiguous CPU tensor as a tensor of bytes.
fn bytes(tensor: &Tensor) -> Result<Tensor> {
    let size = element_size(tensor);
    let (count, offset) = (tensor.geometry().count() * size, tensor.geometry().offset() * size);
    let storage: Storage = tensor.storage().clone();
    Ok(Tensor::new(
        storage,
        DType::U8,
        Geometry::contiguous(&[count]).with_offset(if count == 0 { 0 } else { offset }),
    )?)
}
