//! A third-party backend: a key, memory that the CPU cannot address, and kernels for operators that somebody else defined.
//!
//! The device is simulated. What matters is that nothing outside this crate knows of it.
#![forbid(unsafe_code)]

use std::sync::{Mutex, PoisonError};

use dispatch_runtime::prelude::*;
use dispatch_runtime::{Buffer, Geometry, Storage};

/// The backend.
#[dispatch_key(backend)]
pub static NPU: Key;

/// Memory on the device.
struct NpuBuffer {
    device: Device,
    cells: Mutex<Vec<f32>>,
}

impl Buffer for NpuBuffer {
    fn device(&self) -> Device {
        self.device
    }

    fn size(&self) -> usize {
        size_of_val(&self.lock()[..])
    }
}

impl NpuBuffer {
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<f32>> {
        self.cells.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Copies a CPU tensor to the device.
///
/// # Errors
///
/// Where it does not hold contiguous `f32`.
pub fn upload(tensor: &Tensor) -> Result<Tensor> {
    from_cells(tensor.read::<f32>()?.to_vec(), tensor.sizes())
}

/// Copies a tensor of this backend to the CPU.
///
/// # Errors
///
/// Where it is not one.
pub fn download(tensor: &Tensor) -> Result<Tensor> {
    Ok(Tensor::from_slice(&buffer(tensor)?.lock()))
}

fn from_cells(cells: Vec<f32>, sizes: &[i64]) -> Result<Tensor> {
    let device = Device::new(NPU).ok_or_else(|| Error::kernel("the program has too many backends for another one"))?;
    let storage = Storage::new(NpuBuffer { device, cells: Mutex::new(cells) });
    Ok(Tensor::new(storage, DType::F32, Geometry::contiguous(sizes))?)
}

fn buffer(tensor: &Tensor) -> Result<&NpuBuffer> {
    tensor.storage().buffer().ok_or_else(|| Error::kernel(format!("{tensor:?} is not on the NPU; upload it first")))
}

#[op_impl(myops::mymul, NPU)]
fn mymul(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    let a = buffer(this)?.lock().clone();
    let b = buffer(other)?.lock().clone();
    from_cells(a.iter().zip(&b).map(|(a, b)| a * b).collect(), this.sizes())
}
