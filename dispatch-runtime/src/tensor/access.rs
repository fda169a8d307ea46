//! Guards that lend a tensor's elements as slices, for reading and for writing.
//!
//! [`Tensor::read`] and [`Tensor::write`] lend the elements as a slice for as long as the guard lives. A storage allows many readers or one
//! writer, counted over all tensors on it, so two views of the same memory cannot race. An access that conflicts with a guard returns an
//! error at once; it waits only for transfers of devices. Each write guard increments the version.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use half::{bf16, f16};
use num_complex::{Complex32, Complex64};

use super::Tensor;
use super::math_bits::apply_math_bits;
use crate::error::Error;
use crate::key::{Device, KeySet};
use crate::memory::Storage;
use crate::scalar::{
    Bool, DType, Element, Float8E4M3Fn, Float8E4M3Fnuz, Float8E5M2, Float8E5M2Fnuz, Float8E8M0Fnu, Scalar,
};

/// The error for elements that cannot be borrowed or read.
///
/// ```
/// use dispatch_runtime::{AccessError, DType, Tensor};
/// let error = Tensor::from_slice(&[1.0_f32]).read::<f64>().unwrap_err();
/// assert_eq!(error, AccessError::WrongDType { tensor: DType::F32, requested: DType::F64 });
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum AccessError {
    /// The elements have another dtype.
    WrongDType {
        /// The tensor's dtype.
        tensor: DType,
        /// The requested dtype.
        requested: DType,
    },
    /// The elements are not contiguous.
    NotContiguous {
        /// The tensor's sizes.
        sizes: Vec<i64>,
        /// The tensor's strides.
        strides: Vec<i64>,
    },
    /// The CPU cannot address the memory, or only operators may reach the elements.
    NotOnHost {
        /// The device of the memory.
        device: Device,
    },
    /// The memory is being written, or, for a write, being read.
    InUse,
    /// The requested integer type cannot represent the element.
    OutOfRange {
        /// The element.
        element: i64,
        /// The dtype of the requested type.
        requested: DType,
    },
}

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WrongDType { tensor, requested } => write!(
                f,
                "the tensor holds {tensor}, not {requested}; read it as `{}`, or convert it with `.to(DType::{requested:?})`",
                tensor.type_name()
            ),
            Self::NotContiguous { sizes, strides } => {
                write!(f, "the elements are not contiguous (sizes {sizes:?}, strides {strides:?}); make the tensor contiguous first")
            }
            Self::NotOnHost { device } if *device == Device::CPU => {
                f.write_str("the tensor's elements are not those in memory, as it is a batch or a lazy conjugate or negative; only operators can reach them")
            }
            Self::NotOnHost { device } => write!(f, "the memory of {device} cannot be addressed by the CPU; copy it to the CPU first"),
            Self::InUse => f.write_str(
                "the memory is in use by a guard, perhaps of another view of it; drop guards before taking others that conflict",
            ),
            Self::OutOfRange { element, requested } => {
                write!(f, "the element is {element}, which {requested} cannot represent; read it as `i64` or `f64`")
            }
        }
    }
}

impl std::error::Error for AccessError {}

impl From<AccessError> for Error {
    #[cold]
    fn from(error: AccessError) -> Self {
        Self::kernel(error)
    }
}

impl Tensor {
    /// Returns the element of a tensor without dimensions, if the CPU can address it.
    ///
    /// ```
    /// use dispatch_runtime::{Scalar, Tensor};
    /// assert_eq!(Tensor::number(2.into()).to_scalar(), Ok(Scalar::Int(2)));
    /// ```
    ///
    /// # Errors
    ///
    /// Returns [`AccessError`] if the elements cannot be read.
    pub fn to_scalar(&self) -> Result<Scalar, AccessError> {
        fn first_element<T: Element>(tensor: &Tensor) -> Result<T, AccessError> {
            // A tensor without dimensions has one element.
            let element = match tensor.read::<T>() {
                Err(AccessError::NotOnHost { .. }) if !tensor.math_bits().is_empty() => {
                    let mut elements = tensor.with_math_bits(KeySet::EMPTY).read::<T>()?.to_vec();
                    apply_math_bits(tensor.math_bits(), &mut elements);
                    elements.first().copied()
                }
                elements => elements?.first().copied(),
            };
            element.ok_or(AccessError::InUse)
        }
        Ok(match self.dtype() {
            DType::U8 => Scalar::Int(first_element::<u8>(self)?.into()),
            DType::I8 => Scalar::Int(first_element::<i8>(self)?.into()),
            DType::I16 => Scalar::Int(first_element::<i16>(self)?.into()),
            DType::I32 => Scalar::Int(first_element::<i32>(self)?.into()),
            DType::I64 => Scalar::Int(first_element::<i64>(self)?),
            DType::F16 => Scalar::Float(first_element::<f16>(self)?.to_f64()),
            DType::BF16 => Scalar::Float(first_element::<bf16>(self)?.to_f64()),
            DType::F8E5M2 => Scalar::Float(first_element::<Float8E5M2>(self)?.into()),
            DType::F8E4M3FN => Scalar::Float(first_element::<Float8E4M3Fn>(self)?.into()),
            DType::F8E5M2FNUZ => Scalar::Float(first_element::<Float8E5M2Fnuz>(self)?.into()),
            DType::F8E4M3FNUZ => Scalar::Float(first_element::<Float8E4M3Fnuz>(self)?.into()),
            DType::F8E8M0FNU => Scalar::Float(first_element::<Float8E8M0Fnu>(self)?.into()),
            DType::F32 => Scalar::Float(first_element::<f32>(self)?.into()),
            DType::F64 => Scalar::Float(first_element::<f64>(self)?),
            DType::Bool => Scalar::Bool(first_element::<Bool>(self)?.into()),
            DType::C64 => {
                let value = first_element::<Complex32>(self)?;
                Scalar::Complex(Complex64::new(value.re.into(), value.im.into()))
            }
            DType::C128 => Scalar::Complex(first_element::<Complex64>(self)?),
        })
    }
}

/// A guard that lends a tensor's elements for reading.
pub struct ReadGuard<'a, T: Element> {
    /// The elements, as a pointer and not a reference: a reference in an argument must stay valid until the function returns, but the
    /// function may drop this guard earlier.
    elements: NonNull<[T]>,
    storage: &'a Storage,
    marker: PhantomData<&'a [T]>,
}

/// A guard that lends a tensor's elements for writing.
pub struct WriteGuard<'a, T: Element> {
    /// The elements, as a pointer for the same reason as in [`ReadGuard`].
    elements: NonNull<[T]>,
    storage: &'a Storage,
    marker: PhantomData<&'a mut [T]>,
}

// SAFETY: a `ReadGuard` is a `&[T]` that counts itself in its storage, atomically; elements are `Sync`.
unsafe impl<T: Element> Send for ReadGuard<'_, T> {}
// SAFETY: as for `Send`.
unsafe impl<T: Element> Sync for ReadGuard<'_, T> {}
// SAFETY: a `WriteGuard` is a `&mut [T]` that counts itself in its storage, atomically; elements are `Send`.
unsafe impl<T: Element> Send for WriteGuard<'_, T> {}
// SAFETY: a shared `WriteGuard` lends `&[T]` only; elements are `Sync`.
unsafe impl<T: Element> Sync for WriteGuard<'_, T> {}

impl Tensor {
    /// Borrows the elements as a slice for reading.
    ///
    /// # Errors
    ///
    /// Returns [`AccessError`] if the elements have another dtype, are not contiguous, are being written, or cannot be addressed by the
    /// CPU.
    pub fn read<T: Element>(&self) -> Result<ReadGuard<'_, T>, AccessError> {
        let (start, count) = self.slice_parts::<T>()?;
        let storage = self.storage();
        if !storage.try_lock_read() {
            return Err(AccessError::InUse);
        }
        Ok(ReadGuard { elements: NonNull::slice_from_raw_parts(start, count), storage, marker: PhantomData })
    }

    /// Borrows the elements as a slice for writing.
    ///
    /// # Errors
    ///
    /// Returns [`AccessError`] if the elements have another dtype, are not contiguous, are being read or written, or cannot be addressed by
    /// the CPU.
    pub fn write<T: Element>(&mut self) -> Result<WriteGuard<'_, T>, AccessError> {
        let (start, count) = self.slice_parts::<T>()?;
        let storage = self.storage();
        if !storage.try_lock_write() {
            return Err(AccessError::InUse);
        }
        Ok(WriteGuard { elements: NonNull::slice_from_raw_parts(start, count), storage, marker: PhantomData })
    }

    /// Returns the address and the number of the elements, which are inside the storage that the tensor keeps alive.
    fn slice_parts<T: Element>(&self) -> Result<(NonNull<T>, usize), AccessError> {
        if self.dtype() != T::DTYPE {
            return Err(AccessError::WrongDType { tensor: self.dtype(), requested: T::DTYPE });
        }
        let geometry = self.geometry();
        if !geometry.is_contiguous() {
            return Err(AccessError::NotContiguous {
                sizes: geometry.sizes().to_vec(),
                strides: geometry.strides().to_vec(),
            });
        }
        let start = self.start_address().ok_or_else(|| AccessError::NotOnHost { device: self.device() })?;
        // The block is aligned for every element type, and a tensor's elements are inside.
        Ok((start.cast(), usize::try_from(geometry.count()).unwrap_or(0)))
    }
}

/// Copies elements into a new CPU storage, and returns their dtype.
pub(crate) fn copy_into_storage<T: Element>(storage: &Storage, elements: &[T]) -> DType {
    if let Some(address) = storage.host_address().filter(|_| storage.size() >= size_of_val(elements)) {
        // SAFETY: the block is large enough, and the caller made the storage, so nothing else reaches it yet.
        unsafe { address.cast::<T>().copy_from_nonoverlapping(NonNull::from(elements).cast(), elements.len()) }
    }
    T::DTYPE
}

impl<T: Element> Deref for ReadGuard<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: the elements are inside the storage, which the borrow keeps alive; any bit pattern is a `T`; nothing writes until this
        // guard is dropped.
        unsafe { self.elements.as_ref() }
    }
}

impl<T: Element> fmt::Debug for ReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ReadGuard").field(&&**self).finish()
    }
}

impl<T: Element> Drop for ReadGuard<'_, T> {
    fn drop(&mut self) {
        self.storage.unlock_read();
    }
}

impl<T: Element> Deref for WriteGuard<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: as in `ReadGuard`, and nothing else reads or writes until this guard is dropped.
        unsafe { self.elements.as_ref() }
    }
}

impl<T: Element> DerefMut for WriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`, and `self` is borrowed for as long as the elements are.
        unsafe { self.elements.as_mut() }
    }
}

impl<T: Element> fmt::Debug for WriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WriteGuard").field(&&**self).finish()
    }
}

impl<T: Element> Drop for WriteGuard<'_, T> {
    fn drop(&mut self) {
        self.storage.unlock_write();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::geometry::Geometry;

    #[test]
    fn a_writer_and_a_reader_of_one_storage_exclude_each_other() {
        let mut a = Tensor::from_slice(&[1_u8, 2, 3]);
        let mut b = a.clone();
        let reading = a.read::<u8>().unwrap();
        assert_eq!(b.write::<u8>().unwrap_err(), AccessError::InUse);
        assert!(b.read::<u8>().is_ok());
        drop(reading);
        let writing = a.write::<u8>().unwrap();
        assert_eq!(b.read::<u8>().unwrap_err(), AccessError::InUse);
        drop(writing);
        assert!(b.write::<u8>().is_ok());
    }

    #[test]
    fn write_guards_increment_the_version_and_read_guards_do_not() {
        let mut t = Tensor::from_slice(&[0.0_f32; 4]);
        let before = t.storage().version();
        drop(t.read::<f32>());
        assert_eq!(t.storage().version(), before);
        t.write::<f32>().unwrap().fill(1.0);
        assert_eq!(t.storage().version(), before + 1);
    }

    #[test]
    fn a_strided_view_cannot_be_read_as_a_slice() {
        let t = Tensor::from_slice(&[1_i64, 2, 3, 4]);
        let every_other = t.restride(Geometry::strided(&[2], &[2], 0).unwrap()).unwrap();
        assert!(matches!(every_other.read::<i64>(), Err(AccessError::NotContiguous { .. })));
    }

    /// Drops guards inside the function that they were passed to. With a reference inside the guard this would be undefined behaviour,
    /// which Miri reports.
    #[test]
    fn a_guard_dropped_by_a_function_unlocks_the_storage() {
        fn drop_and_write(reading: ReadGuard<'_, i32>, mut other: Tensor) {
            drop(reading);
            other.write::<i32>().unwrap()[0] = 7;
        }
        fn drop_and_read(writing: WriteGuard<'_, i32>, other: &Tensor) -> i32 {
            drop(writing);
            other.read::<i32>().unwrap()[0]
        }
        let mut tensor = Tensor::from_slice(&[1_i32, 2]);
        let other = tensor.clone();
        drop_and_write(tensor.read().unwrap(), other.clone());
        assert_eq!(drop_and_read(tensor.write().unwrap(), &other), 7);
    }

    #[test]
    fn guards_are_send_and_print_their_elements() {
        fn assert_send_and_sync<T: Send + Sync>() {}
        assert_send_and_sync::<ReadGuard<'_, f32>>();
        assert_send_and_sync::<WriteGuard<'_, f32>>();
        assert_eq!(format!("{:?}", Tensor::from_slice(&[1_u8, 2]).read::<u8>().unwrap()), "ReadGuard([1, 2])");
    }

    #[test]
    fn guards_of_an_empty_tensor_have_no_elements() {
        let mut t = Tensor::from_slice::<f64>(&[]);
        assert!(t.read::<f64>().unwrap().is_empty());
        assert!(t.write::<f64>().unwrap().is_empty());
    }
}
