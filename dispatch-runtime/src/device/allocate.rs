//! Allocation of tensors on a device.

use crate::error::{BadArgument, ErrorKind, Result};
use crate::key::Device;
use crate::memory::Storage;
use crate::scalar::DType;
use crate::spec::Spec;
use crate::tensor::{Geometry, OutOfStorage, Tensor};

impl Spec {
    /// Allocates a tensor of this dtype and geometry on a device. Its elements have arbitrary values, as with PyTorch's `empty`.
    ///
    /// ```
    /// use dispatch_runtime::{DType, Device, Geometry, Spec};
    /// let geometry = Geometry::contiguous(&[2, 3]);
    /// let spec = Spec { dtype: DType::F32, geometry: geometry.clone() };
    /// assert_eq!(spec.on(Device::CPU).unwrap().storage().size(), 24);
    /// // A new storage begins with the tensor's first element, so the offset must be 0.
    /// assert!(Spec { dtype: DType::F32, geometry: geometry.with_offset(1) }.on(Device::CPU).is_err());
    /// ```
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`] if a size is negative or the geometry has an offset, and [`OutOfStorage`] if the geometry needs more bytes
    /// than any memory has. Returns [`OutOfMemory`](crate::OutOfMemory) or the backend's own error if the device has no such block. Returns
    /// [`ErrorKind::WrongAllocation`] if the backend allocates a smaller block, or one of another backend.
    #[inline]
    pub fn on(self, device: Device) -> Result<Tensor> {
        Tensor::allocate(self.dtype, &self.geometry, device)
    }
}

impl Tensor {
    /// Allocates a contiguous tensor of the same sizes on the same device, with this dtype and arbitrary elements.
    ///
    /// ```
    /// use dispatch_runtime::{DType, Tensor};
    /// let mask = Tensor::from_slice(&[1.0_f32, 2.0]).allocate_like(DType::Bool).unwrap();
    /// assert_eq!((mask.sizes(), mask.dtype()), (&[2_i64][..], DType::Bool));
    /// ```
    #[inline]
    pub fn allocate_like(&self, dtype: DType) -> Result<Self> {
        let geometry = self.geometry();
        if geometry.is_canonical() && geometry.offset() == 0 {
            Self::allocate(dtype, geometry, self.device())
        } else {
            self.allocate_like_slow(dtype)
        }
    }

    #[cold]
    fn allocate_like_slow(&self, dtype: DType) -> Result<Self> {
        Self::allocate(dtype, &Geometry::contiguous(self.sizes()), self.device())
    }

    /// Allocates a tensor of this dtype and geometry on a device, with arbitrary elements.
    pub(crate) fn allocate(dtype: DType, geometry: &Geometry, device: Device) -> Result<Self> {
        let count = usize::try_from(geometry.count()).ok().and_then(|count| count.checked_mul(dtype.size()));
        let bytes = match count {
            Some(bytes @ 1..) if geometry.is_canonical() && geometry.offset() == 0 => bytes,
            _ => checked_storage_bytes(dtype, geometry)?,
        };
        // `cpu:0`, `cpu:1` and so on are all the device `cpu`.
        if device.backend_index() == Device::CPU.backend_index() {
            return Ok(Self::from_new_storage(Storage::try_new_host_unzeroed(bytes)?, dtype, geometry, Device::CPU));
        }
        Self::allocate_off_cpu(dtype, geometry, device, bytes)
    }

    #[inline(never)]
    fn allocate_off_cpu(dtype: DType, geometry: &Geometry, device: Device, bytes: usize) -> Result<Self> {
        if device.backend_index() == Device::META.backend_index() {
            geometry.required_bytes(dtype).ok_or_else(|| OutOfStorage::too_large_for_any_storage(dtype, geometry))?;
            return Ok(Self::from_new_storage(Storage::new_meta(bytes), dtype, geometry, Device::META));
        }
        let storage = device.checked_memory_backend()?.allocate(device, bytes)?;
        let found = storage.device();
        if found.backend_index() != device.backend_index() || storage.size() < bytes {
            return Err(ErrorKind::WrongAllocation { device, size: bytes, found, available: storage.size() }.into());
        }
        Ok(Self::from_new_storage(storage, dtype, geometry, found))
    }
}

/// Returns the number of bytes that a new storage needs for a geometry, which may be strided, empty or invalid.
#[inline(never)]
fn checked_storage_bytes(dtype: DType, geometry: &Geometry) -> Result<usize> {
    if geometry.sizes().iter().any(|&size| size < 0) {
        return Err(BadArgument::sizes("size", geometry.sizes(), "no negative size").into());
    }
    if geometry.offset() != 0 {
        let reason = "a new tensor begins at the start of its storage";
        return Err(BadArgument::number("storage_offset", geometry.offset(), 0).because(reason).into());
    }
    let bytes =
        geometry.required_bytes(dtype).ok_or_else(|| OutOfStorage::too_large_for_any_storage(dtype, geometry))?;
    Ok(if geometry.count() == 0 { 0 } else { bytes })
}
