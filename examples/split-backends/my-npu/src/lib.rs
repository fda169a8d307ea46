//! A third-party backend: a key, memory that the CPU cannot address, and kernels for operators of another crate.
//!
//! The device is simulated. No code outside this crate knows the backend.
#![forbid(unsafe_code)]

use std::sync::{Mutex, PoisonError};

use dispatch_runtime::prelude::*;
use dispatch_runtime::{Backend, Buffer, Geometry, Storage, backend};

/// The key of the backend.
#[dispatch_key(backend)]
pub static NPU: Key;

/// A block of memory on the device.
struct NpuBuffer {
    device: Device,
    elements: Mutex<Vec<f32>>,
}

impl Buffer for NpuBuffer {
    fn device(&self) -> Device {
        self.device
    }

    fn size(&self) -> usize {
        size_of_val(&self.lock_elements()[..])
    }
}

impl NpuBuffer {
    fn lock_elements(&self) -> std::sync::MutexGuard<'_, Vec<f32>> {
        self.elements.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The device's allocator, from which the framework allocates results of operators with a plan.
struct NpuBackend;

backend!(NPU, NpuBackend);

impl Backend for NpuBackend {
    fn allocate(&self, device: Device, size: usize) -> Result<Storage> {
        Ok(Storage::new(NpuBuffer { device, elements: Mutex::new(vec![0.0; size.div_ceil(4)]) }))
    }

    fn copy_in(&self, from: &[u8], to: &Storage) -> Result<()> {
        let mut elements = buffer_of_storage(to)?.lock_elements();
        elements.iter_mut().zip(from.as_chunks().0).for_each(|(element, bytes)| *element = f32::from_ne_bytes(*bytes));
        Ok(())
    }

    fn copy_out(&self, from: &Storage, to: &mut [u8]) -> Result<()> {
        let elements = buffer_of_storage(from)?.lock_elements();
        to.as_chunks_mut().0.iter_mut().zip(&*elements).for_each(|(bytes, element)| *bytes = element.to_ne_bytes());
        Ok(())
    }
}

/// Copies a CPU tensor to the device.
///
/// # Errors
///
/// Returns an error if the tensor is not contiguous `f32`.
pub fn upload(tensor: &Tensor) -> Result<Tensor> {
    tensor_from_elements(tensor.read::<f32>()?.to_vec(), tensor.sizes())
}

/// Copies a tensor of this backend to the CPU.
///
/// # Errors
///
/// Returns an error if the tensor is on another device.
pub fn download(tensor: &Tensor) -> Result<Tensor> {
    Ok(Tensor::from_slice(&buffer_of_tensor(tensor)?.lock_elements()))
}

fn tensor_from_elements(elements: Vec<f32>, sizes: &[i64]) -> Result<Tensor> {
    let device =
        Device::new(NPU).ok_or_else(|| Error::kernel("the program has the maximum number of backends already"))?;
    let storage = Storage::new(NpuBuffer { device, elements: Mutex::new(elements) });
    Ok(Tensor::new(storage, DType::F32, Geometry::contiguous(sizes))?)
}

fn buffer_of_tensor(tensor: &Tensor) -> Result<&NpuBuffer> {
    tensor.storage().buffer().ok_or_else(|| Error::kernel(format!("{tensor:?} is not on the NPU; upload it first")))
}

fn buffer_of_storage(storage: &Storage) -> Result<&NpuBuffer> {
    storage.buffer().ok_or_else(|| Error::kernel("the storage is not on the NPU"))
}

#[op_impl(myops::mymul, NPU)]
fn mymul(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    let a = buffer_of_tensor(this)?.lock_elements().clone();
    let b = buffer_of_tensor(other)?.lock_elements().clone();
    tensor_from_elements(a.iter().zip(&b).map(|(a, b)| a * b).collect(), this.sizes())
}

/// The NPU kernel of `normalize_rows`, an operator with a plan. The plan has checked the arguments. The macro derives the
/// kernels of all forms.
#[op_impl(myops::normalize_rows, NPU)]
fn normalize_rows(plan: &myops::NormalizeRowsPlan, out: &mut Tensor, this: &Tensor) -> Result<()> {
    let from = buffer_of_tensor(this)?.lock_elements().clone();
    let mut to = buffer_of_tensor(out)?.lock_elements();
    for (to, from) in to.chunks_mut(plan.columns.max(1)).zip(from.chunks(plan.columns.max(1))) {
        let sum: f32 = from.iter().sum();
        to.iter_mut().zip(from).for_each(|(to, from)| *to = from / sum);
    }
    Ok(())
}
