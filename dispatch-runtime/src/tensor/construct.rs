//! Constructors of tensors: from storages, slices and numbers, or from another tensor's memory with a new geometry or new keys.

use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU8;

use super::bounds::{OutOfStorage, start_byte};
use super::extension::Extensions;
use super::geometry::Geometry;
use super::marks::Marks;
use super::{StartAddress, Tensor, TensorBody, access};
use crate::guard;
use crate::key::{AD_INPLACE_OR_VIEW, AUTOCAST, AUTOGRAD, DENSE, Device, KeySet, layer_bit};
use crate::memory::{Shared, Storage};
use crate::scalar::{Bool, DType, Element, Scalar};

impl Tensor {
    /// Creates a tensor over a storage, with the default keys of its backend.
    ///
    /// # Errors
    ///
    /// Returns [`OutOfStorage`] if the geometry reaches outside the storage.
    pub fn new(storage: Storage, dtype: DType, geometry: Geometry) -> Result<Self, OutOfStorage> {
        let inference = guard::is_inference_mode();
        let (keys, memory) = (default_keys(storage.device(), inference), storage.host_address());
        Self::new_with_marks(storage, memory, dtype, geometry, keys, Marks::for_new_tensor(inference))
    }

    /// Creates a tensor with these keys and marks. `memory` is the address of the storage, or `None` if only operators may reach the
    /// elements.
    fn new_with_marks(
        storage: Storage,
        memory: Option<NonNull<u8>>,
        dtype: DType,
        geometry: Geometry,
        keys: KeySet,
        marks: Marks,
    ) -> Result<Self, OutOfStorage> {
        // Meta tensors have sizes but no memory.
        let fits = geometry.required_bytes(dtype).is_some_and(|needed| {
            geometry.count() == 0
                || needed <= storage.size()
                || storage.device().backend_index() == Device::META.backend_index()
        });
        if !fits {
            return Err(OutOfStorage { geometry: Box::new(geometry), dtype, available: storage.size() });
        }
        let device = storage.device();
        // SAFETY: the geometry begins inside the storage, unless there is no element at all.
        let start = memory.map(|memory| unsafe { memory.add(start_byte(&geometry, dtype)) });
        Ok(Self::new_unchecked(storage, dtype, &geometry, device, keys, marks, StartAddress(start)))
    }

    /// Creates a tensor without checks. The caller has checked that all elements are inside the storage, and that `start` is the address of
    /// the first one.
    #[inline(always)]
    fn new_unchecked(
        storage: Storage,
        dtype: DType,
        geometry: &Geometry,
        device: Device,
        keys: KeySet,
        marks: Marks,
        start: StartAddress,
    ) -> Self {
        let marks = if start.0.is_none() { marks | Marks::NOT_ON_HOST } else { marks };
        let handle = Shared::<TensorBody>::uninit();
        let body = handle.as_ptr();
        // SAFETY: every field is written before the handle can be dropped.
        unsafe {
            (&raw mut (*body).keys).write(keys);
            (&raw mut (*body).marks).write(AtomicU8::new(marks.bits()));
            (&raw mut (*body).dtype).write(dtype);
            (&raw mut (*body).device).write(device);
            (&raw mut (*body).geometry).write(geometry.clone());
            (&raw mut (*body).storage).write(storage);
            (&raw mut (*body).start).write(start);
            (&raw mut (*body).extensions).write(Extensions::default());
            (&raw mut (*body).base).write(ManuallyDrop::new(None));
        }
        Self(ManuallyDrop::into_inner(handle))
    }

    /// Creates a tensor with default keys over a new storage of this device, which the caller made large enough.
    #[inline(always)]
    pub(crate) fn from_new_storage(storage: Storage, dtype: DType, geometry: &Geometry, device: Device) -> Self {
        let inference = guard::is_inference_mode();
        let start = StartAddress(storage.host_address());
        Self::new_unchecked(
            storage,
            dtype,
            geometry,
            device,
            default_keys(device, inference),
            Marks::for_new_tensor(inference),
            start,
        )
    }

    /// Creates a one-dimensional CPU tensor with a copy of these elements.
    #[must_use]
    pub fn from_slice<T: Element>(elements: &[T]) -> Self {
        let storage = Storage::new_host(size_of_val(elements));
        let geometry = Geometry::contiguous(&[i64::try_from(elements.len()).unwrap_or(i64::MAX)]);
        access::copy_into_storage(&storage, elements);
        Self::from_new_storage(storage, T::DTYPE, &geometry, Device::CPU)
    }

    /// Creates a tensor without dimensions that stands for a plain number. In a computation with tensors it affects only the category of
    /// the result's dtype: `x * 2.0` has the precision of `x`.
    ///
    /// ```
    /// use dispatch_runtime::{DType, Tensor};
    /// let two = Tensor::number(2.into());
    /// assert!(two.is_number() && two.dtype() == DType::I64 && two.sizes().is_empty());
    /// ```
    #[must_use]
    pub fn number(value: Scalar) -> Self {
        let storage = Storage::new_host(16);
        let dtype = match value {
            Scalar::Bool(value) => access::copy_into_storage(&storage, &[Bool::from(value)]),
            Scalar::Int(value) => access::copy_into_storage(&storage, &[value]),
            Scalar::Float(value) => access::copy_into_storage(&storage, &[value]),
            Scalar::Complex(value) => access::copy_into_storage(&storage, &[value]),
        };
        let inference = guard::is_inference_mode();
        let keys = default_keys(Device::CPU, inference);
        let (marks, start) = (Marks::for_new_tensor(inference) | Marks::NUMBER, StartAddress(storage.host_address()));
        Self::new_unchecked(storage, dtype, &Geometry::contiguous(&[]), Device::CPU, keys, marks, start)
    }

    /// Creates a tensor over the same storage with another geometry.
    ///
    /// # Errors
    ///
    /// Returns [`OutOfStorage`] if the geometry reaches outside the storage.
    #[inline]
    pub fn restride(&self, geometry: Geometry) -> Result<Self, OutOfStorage> {
        let body = &*self.0;
        let marks = self.marks_for_views();
        if geometry.is_prefix_of(&body.geometry) {
            let storage = body.storage.clone();
            return Ok(Self::new_unchecked(storage, body.dtype, &geometry, body.device, body.keys, marks, body.start));
        }
        let memory = body.start.0.and_then(|_| body.storage.host_address());
        Self::new_with_marks(body.storage.clone(), memory, body.dtype, geometry, body.keys, marks)
    }

    /// Creates a tensor over the same elements with other keys, as a layer does for tensors of its own. Extensions, such as autograd's
    /// history, are not copied.
    #[must_use]
    pub fn with_keys(&self, keys: KeySet) -> Self {
        let body = &self.0;
        let marks = self.marks_for_views();
        Self::new_unchecked(body.storage.clone(), body.dtype, &body.geometry, body.device, keys, marks, body.start)
    }

    /// Creates a tensor over the same elements with other keys, whose elements can be read, if the CPU can address them.
    pub(super) fn readable_with_keys(&self, keys: KeySet) -> Self {
        let body = &self.0;
        // SAFETY: the geometry begins inside the storage, unless there is no element at all.
        let start =
            body.storage.host_address().map(|memory| unsafe { memory.add(start_byte(&body.geometry, body.dtype)) });
        let marks = Marks::for_new_tensor(self.is_inference());
        Self::new_unchecked(
            body.storage.clone(),
            body.dtype,
            &body.geometry,
            body.device,
            keys,
            marks,
            StartAddress(start),
        )
    }

    /// Creates a tensor over the same storage with other keys, whose elements only operators can reach: [`read`](Self::read) and kernels
    /// return errors, also for its views. A layer uses it for tensors that represent more than their sizes say, such as batches.
    ///
    /// ```
    /// use dispatch_runtime::{Geometry, Tensor};
    /// let x = Tensor::from_slice(&[1.0_f32, 2.0]);
    /// let opaque = x.opaque_with_keys(x.keys());
    /// assert!(opaque.sizes() == [2] && opaque.read::<f32>().is_err());
    /// let view = opaque.restride(Geometry::contiguous(&[1]).with_offset(1)).unwrap();
    /// assert!(view.read::<f32>().is_err());
    /// ```
    #[must_use]
    pub fn opaque_with_keys(&self, keys: KeySet) -> Self {
        let body = &self.0;
        let marks = self.marks_for_views();
        Self::new_unchecked(
            body.storage.clone(),
            body.dtype,
            &body.geometry,
            body.device,
            keys,
            marks,
            StartAddress(None),
        )
    }
}

/// Returns the default keys of a tensor on this device: those of its data and of autocast, and outside of inference mode those of view
/// tracking and autograd.
#[inline]
fn default_keys(device: Device, inference: bool) -> KeySet {
    let tracked = if inference { 0 } else { layer_bit(AD_INPLACE_OR_VIEW) | layer_bit(AUTOGRAD) };
    KeySet::from_bits(layer_bit(DENSE) | layer_bit(AUTOCAST) | tracked | 1 << device.backend_index())
}
