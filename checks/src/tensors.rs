//! Conversion between arrays and tensors: memory layouts, and copies to and from devices.

use dispatch_runtime::{
    AccessError, Bool, Complex32, Complex64, DType, Device, Element, Float8E4M3Fn, Float8E4M3Fnuz, Float8E5M2,
    Float8E5M2Fnuz, Float8E8M0Fnu, Geometry, Scalar, Storage, Tensor, bf16, f16,
};

use crate::array::{Array, storage_indices};
use crate::error::{Error, Result};

/// The device whose memory the suite reads and writes directly. Expected results are computed there.
pub const HOST_DEVICE: Device = Device::CPU;

/// The element that fills the gaps of a strided tensor. Expected results rarely have it, so a kernel that reads or writes a gap is detected.
pub(crate) const GAP_ELEMENT: Scalar = Scalar::Int(77);

/// Creates a tensor on `device` with the elements and the geometry of an array.
pub fn to_tensor(array: &Array, device: Device) -> Result<Tensor> {
    if device == Device::META {
        return create_meta_tensor(array);
    }
    copy_to_device(create_host_tensor(array)?, device)
}

/// Reads a tensor's dtype, geometry and elements to the host.
pub fn to_array(tensor: &Tensor) -> Result<Array> {
    let host = copy_to_host(tensor)?;
    let elements = if host.geometry().count() == 0 { Vec::new() } else { read_elements(&host)? };
    Ok(Array {
        dtype: host.dtype(),
        sizes: tensor.sizes().to_vec(),
        strides: tensor.strides().to_vec(),
        offset: tensor.geometry().offset(),
        elements,
    })
}

/// Returns a tensor's dtype and geometry as an array without elements.
pub(crate) fn geometry_as_array(tensor: &Tensor) -> Array {
    let geometry = tensor.geometry();
    let (sizes, strides) = (geometry.sizes().to_vec(), geometry.strides().to_vec());
    Array { dtype: tensor.dtype(), sizes, strides, offset: geometry.offset(), elements: Vec::new() }
}

/// Returns a tensor with another geometry on the storage of `tensor`.
pub(crate) fn strided_view(tensor: &Tensor, sizes: &[i64], strides: &[i64], offset: i64) -> Result<Tensor> {
    let geometry = Geometry::strided(sizes, strides, offset).ok_or(Error::InvalidGeometry)?;
    Ok(tensor.restride(geometry)?)
}

/// Copies a host tensor to a device.
fn copy_to_device(host: Tensor, device: Device) -> Result<Tensor> {
    if device.key() == HOST_DEVICE.key() {
        return Ok(host);
    }
    let copy = || -> dispatch_runtime::Result<Storage> {
        let memory = device.memory_backend()?;
        let storage = memory.allocate(device, host.storage().size())?;
        memory.copy_in(&storage_as_bytes(host.storage())?.read::<u8>()?, &storage)?;
        Ok(storage)
    };
    let storage = copy().map_err(|source| Error::CopyFailed { device, source })?;
    Ok(Tensor::new(storage, host.dtype(), host.geometry().clone())?)
}

/// Copies a tensor of a device to the host.
fn copy_to_host(tensor: &Tensor) -> Result<Tensor> {
    let device = tensor.device();
    if device.key() == HOST_DEVICE.key() {
        return Ok(tensor.clone());
    }
    let copy = || -> dispatch_runtime::Result<Storage> {
        let host = Storage::new_host(tensor.storage().size());
        device.synchronize()?;
        device.memory_backend()?.copy_out(tensor.storage(), &mut storage_as_bytes(&host)?.write::<u8>()?)?;
        Ok(host)
    };
    let storage = copy().map_err(|source| Error::CopyFailed { device, source })?;
    let host = Tensor::new(storage, tensor.dtype(), tensor.geometry().clone())?;
    Ok(if tensor.math_bits().is_empty() { host } else { host.with_math_bits(tensor.math_bits()) })
}

/// Returns the bytes of a host storage as a tensor of `U8`.
fn storage_as_bytes(storage: &Storage) -> dispatch_runtime::Result<Tensor> {
    let size = i64::try_from(storage.size()).unwrap_or(i64::MAX);
    Ok(Tensor::new(storage.clone(), DType::U8, Geometry::contiguous(&[size]))?)
}

fn create_meta_tensor(array: &Array) -> Result<Tensor> {
    let geometry = Geometry::strided(&array.sizes, &array.strides, array.offset).ok_or(Error::InvalidGeometry)?;
    Ok(Tensor::new(Storage::new_meta(0), array.dtype, geometry)?)
}

/// An element type that can be converted from and to [`Scalar`].
trait StoredElement: Element {
    fn from_scalar(scalar: Scalar) -> Self;
    fn to_scalar(self) -> Scalar;
}

macro_rules! impl_stored_elements {
    ($($ty:ty, |$in:ident| $from:expr, |$out:ident| $to:expr;)*) => {
        $(impl StoredElement for $ty {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a scalar is converted to the requested dtype")]
            fn from_scalar($in: Scalar) -> Self {
                $from
            }

            fn to_scalar(self) -> Scalar {
                let $out = self;
                $to
            }
        })*

        fn create_host_tensor(array: &Array) -> Result<Tensor> {
            match array.dtype {
                $(<$ty as Element>::DTYPE => write_array_as::<$ty>(array),)*
            }
        }

        fn read_elements(tensor: &Tensor) -> Result<Vec<Scalar>, AccessError> {
            match tensor.dtype() {
                $(<$ty as Element>::DTYPE => read_elements_as::<$ty>(tensor),)*
            }
        }
    };
}

impl_stored_elements! {
    u8, |x| to_integer(x) as Self, |x| Scalar::Int(x.into());
    i8, |x| to_integer(x) as Self, |x| Scalar::Int(x.into());
    i16, |x| to_integer(x) as Self, |x| Scalar::Int(x.into());
    i32, |x| to_integer(x) as Self, |x| Scalar::Int(x.into());
    i64, |x| to_integer(x), |x| Scalar::Int(x);
    f16, |x| Self::from_f64(to_real(x)), |x| Scalar::Float(x.to_f64());
    bf16, |x| Self::from_f64(to_real(x)), |x| Scalar::Float(x.to_f64());
    Float8E5M2, |x| Self::from_f32(to_real(x) as f32), |x| Scalar::Float(x.into());
    Float8E4M3Fn, |x| Self::from_f32(to_real(x) as f32), |x| Scalar::Float(x.into());
    Float8E5M2Fnuz, |x| Self::from_f32(to_real(x) as f32), |x| Scalar::Float(x.into());
    Float8E4M3Fnuz, |x| Self::from_f32(to_real(x) as f32), |x| Scalar::Float(x.into());
    Float8E8M0Fnu, |x| Self::from_f32(to_real(x) as f32), |x| Scalar::Float(x.into());
    f32, |x| to_real(x) as Self, |x| Scalar::Float(x.into());
    f64, |x| to_real(x), |x| Scalar::Float(x);
    Complex32, |x| Self::new(to_complex(x).re as f32, to_complex(x).im as f32), |x| Scalar::Complex(Complex64::new(x.re.into(), x.im.into()));
    Complex64, |x| to_complex(x), |x| Scalar::Complex(x);
    Bool, |x| Self::from(to_complex(x) != Complex64::default()), |x| Scalar::Bool(x.into());
}

/// Converts a scalar to an integer. A float is truncated.
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "a float is truncated, as by a cast of a tensor")]
pub fn to_integer(scalar: Scalar) -> i64 {
    if let Scalar::Int(value) = scalar { value } else { to_real(scalar) as i64 }
}

/// Returns the real part of a scalar.
#[must_use]
pub fn to_real(scalar: Scalar) -> f64 {
    to_complex(scalar).re
}

/// Converts a scalar to a complex number.
#[must_use]
pub fn to_complex(scalar: Scalar) -> Complex64 {
    if let Scalar::Complex(value) = scalar { value } else { scalar.to_f64().unwrap_or(f64::NAN).into() }
}

fn write_array_as<T: StoredElement>(array: &Array) -> Result<Tensor> {
    let mut memory = vec![T::from_scalar(GAP_ELEMENT); array.required_element_count()];
    for (place, &element) in array.storage_indices().into_iter().zip(&array.elements) {
        if let Some(slot) = memory.get_mut(place) {
            *slot = T::from_scalar(element);
        }
    }
    strided_view(&Tensor::from_slice(&memory), &array.sizes, &array.strides, array.offset)
}

fn read_elements_as<T: StoredElement>(tensor: &Tensor) -> Result<Vec<Scalar>, AccessError> {
    if !tensor.math_bits().is_empty() {
        let elements = tensor.to_vec::<T>().map_err(|_| AccessError::InUse)?;
        return Ok(elements.into_iter().map(StoredElement::to_scalar).collect());
    }
    let whole = i64::try_from(tensor.storage().size() / tensor.dtype().size()).unwrap_or(i64::MAX);
    let flat = Tensor::new(tensor.storage().clone(), tensor.dtype(), Geometry::contiguous(&[whole]));
    let Ok(flat) = flat else { return Ok(Vec::new()) };
    let memory = flat.read::<T>()?;
    let places = storage_indices(tensor.sizes(), tensor.strides(), tensor.geometry().offset());
    Ok(places.into_iter().filter_map(|place| memory.get(place)).map(|&element| element.to_scalar()).collect())
}

/// Returns the array with its elements rounded to its dtype.
pub fn round_to_dtype(array: &Array) -> Result<Array> {
    let stored = create_host_tensor(array)?;
    Ok(Array {
        elements: if array.elements.is_empty() { Vec::new() } else { read_elements(&stored)? },
        ..array.clone()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dispatch_runtime::{Backend, Buffer, Key, backend, dispatch_key};
    use std::sync::Mutex;

    #[test]
    fn elements_at_any_strides_are_read_back() {
        for dtype in DType::ALL {
            let elements: Vec<Scalar> = (0..6).map(Scalar::from).collect();
            let array =
                round_to_dtype(&Array { strides: vec![2, 5], offset: 3, ..Array::new(dtype, &[2, 3], elements) })
                    .unwrap();
            assert_eq!(to_array(&to_tensor(&array, Device::CPU).unwrap()).unwrap(), array, "{dtype}");
        }
    }

    #[dispatch_key(backend)]
    static TPU: Key;

    struct HostBuffer(Mutex<Vec<u8>>);

    impl Buffer for HostBuffer {
        fn device(&self) -> Device {
            Device::new(TPU).unwrap()
        }

        fn size(&self) -> usize {
            self.0.lock().unwrap().len()
        }
    }

    struct SimulatedBackend;

    impl Backend for SimulatedBackend {
        fn allocate(&self, _: Device, size: usize) -> dispatch_runtime::Result<Storage> {
            Ok(Storage::new(HostBuffer(vec![0; size].into())))
        }

        fn copy_in(&self, from: &[u8], to: &Storage) -> dispatch_runtime::Result<()> {
            to.buffer::<HostBuffer>().unwrap().0.lock().unwrap().copy_from_slice(from);
            Ok(())
        }

        fn copy_out(&self, from: &Storage, to: &mut [u8]) -> dispatch_runtime::Result<()> {
            to.copy_from_slice(&from.buffer::<HostBuffer>().unwrap().0.lock().unwrap());
            Ok(())
        }
    }

    backend!(TPU, SimulatedBackend);

    #[test]
    fn tensors_are_copied_to_devices_and_back() {
        let elements = [1, 2, 3].map(Scalar::from).to_vec();
        let array = Array { strides: vec![2], offset: 1, ..Array::new(DType::I32, &[3], elements) };
        let device = Device::new(TPU).unwrap();
        let there = to_tensor(&array, device).unwrap();
        assert_eq!(there.device(), device);
        assert_eq!(to_array(&there).unwrap(), array);
    }

    #[test]
    fn large_integers_stay_exact() {
        let elements = vec![Scalar::Int(i64::MAX), Scalar::Int(i64::MAX - 1)];
        let array = Array::new(DType::I64, &[2], elements);
        assert_eq!(to_array(&to_tensor(&array, Device::CPU).unwrap()).unwrap(), array);
    }

    #[test]
    fn a_meta_tensor_has_a_geometry_and_no_elements() {
        let array = Array { strides: vec![1, 2], ..Array::new(DType::F32, &[2, 2], vec![Scalar::Float(0.0); 4]) };
        let tensor = to_tensor(&array, Device::META).unwrap();
        assert_eq!((tensor.device(), tensor.strides()), (Device::META, &[1, 2][..]));
        assert!(matches!(to_array(&tensor), Err(Error::CopyFailed { .. })));
    }
}
