//! The tensor: a reference-counted handle to a fixed geometry and shared memory.
//!
//! A tensor's sizes, strides, dtype, keys and storage are fixed when it is created, so every call can read its keys without a lock. State
//! that changes is elsewhere: data in its [`Storage`], history in the layers' extensions, and a few [`Marks`] that every layer reads
//! quickly.

pub(crate) mod access;
mod bounds;
mod construct;
mod elements;
mod extension;
mod from_array;
mod geometry;
mod marks;
pub(crate) mod math_bits;
mod operands;
mod overlap;
mod parameters;
mod transfer_hold;

use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU8;

use crate::key::{Device, KeySet};
use crate::memory::{Shared, Storage};
use crate::scalar::DType;
use extension::Extensions;

pub use access::{AccessError, ReadGuard, WriteGuard};
pub use bounds::OutOfStorage;
pub use elements::{Elements, ElementsMut};
pub use from_array::{NestedArray, NestedRow, RaggedRows};
pub use geometry::{Dims, Geometry, element_count};
pub use marks::Marks;
pub use operands::{Operand, Operands};
pub use parameters::{Bounds, IntoAxes, IntoBounds, IntoInt, IntoSizes};
pub use transfer_hold::TransferHold;

/// An n-dimensional array on a device. Cloning it creates another handle to the same array.
///
/// ```
/// use dispatch_runtime::{DType, Tensor};
///
/// let t = Tensor::from_slice(&[1.0_f32, 2.0, 3.0]);
/// assert_eq!((t.dtype(), t.sizes()), (DType::F32, &[3_i64][..]));
/// assert_eq!(&*t.read::<f32>().unwrap(), [1.0, 2.0, 3.0]);
/// ```
#[derive(Clone)]
#[repr(transparent)]
pub struct Tensor(Shared<TensorBody>);

/// The state of a tensor that all its handles share.
struct TensorBody {
    keys: KeySet,
    marks: AtomicU8,
    dtype: DType,
    device: Device,
    geometry: Geometry,
    storage: Storage,
    /// The address of the first element, if the CPU can address it.
    start: StartAddress,
    extensions: Extensions,
    /// The tensor of which autograd tracks this one as a view. `TensorBody::drop` drops it.
    base: ManuallyDrop<Option<Tensor>>,
}

impl Drop for TensorBody {
    #[inline]
    fn drop(&mut self) {
        if let Some(base) = self.base.take() {
            drop_bases(base);
        }
    }
}

/// Drops the base of a view, the base of that base, and so on. It is a loop, because recursion over a long chain would overflow the stack.
fn drop_bases(first: Tensor) {
    let mut next = Some(first);
    while let Some(mut base) = next {
        next = Shared::get_mut(&mut base.0).and_then(|body| body.base.take());
    }
}

/// The address of a tensor's first element, inside of the body's storage.
#[derive(Clone, Copy)]
struct StartAddress(Option<NonNull<u8>>);

// SAFETY: the address is used only under guards of the storage.
unsafe impl Send for StartAddress {}
// SAFETY: as for `Send`.
unsafe impl Sync for StartAddress {}

impl Tensor {
    /// Returns the address of the first element, if the CPU can address it.
    #[inline]
    fn start_address(&self) -> Option<NonNull<u8>> {
        self.0.start.0
    }

    /// Returns the keys that this tensor adds to a call.
    #[inline(always)]
    #[must_use]
    pub fn keys(&self) -> KeySet {
        self.0.keys
    }

    /// Returns the dtype: the type of the elements.
    #[inline]
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.0.dtype
    }

    /// Returns the device that has the memory.
    #[inline]
    #[must_use]
    pub fn device(&self) -> Device {
        self.0.device
    }

    /// Returns the geometry: the sizes, strides and offset.
    #[inline]
    #[must_use]
    pub fn geometry(&self) -> &Geometry {
        &self.0.geometry
    }

    /// Returns the sizes: the number of elements in each dimension.
    #[doc(alias = "shape")]
    #[inline]
    #[must_use]
    pub fn sizes(&self) -> &[i64] {
        self.0.geometry.sizes()
    }

    /// Returns the strides: the distance between neighbouring elements in each dimension, in elements.
    #[inline]
    #[must_use]
    pub fn strides(&self) -> &[i64] {
        self.0.geometry.strides()
    }

    /// Returns the storage that holds the elements.
    #[inline]
    #[must_use]
    pub fn storage(&self) -> &Storage {
        &self.0.storage
    }

    /// Returns whether this handle is the only way to the elements: the tensor has no other handle, and no other tensor shares its storage.
    ///
    /// ```
    /// use dispatch_runtime::Tensor;
    ///
    /// let mut t = Tensor::from_slice(&[1.0_f32]);
    /// assert!(t.owns_elements_alone());
    /// let other = t.restride(t.geometry().clone()).unwrap();
    /// assert!(!t.owns_elements_alone());
    /// # drop(other);
    /// ```
    #[inline]
    pub fn owns_elements_alone(&mut self) -> bool {
        Shared::is_unique(&self.0) && self.0.storage.is_unique()
    }

    /// Returns whether the tensor has no other handle. Other tensors may share its storage.
    #[inline]
    #[must_use]
    pub fn is_only_handle(&mut self) -> bool {
        Shared::is_unique(&self.0)
    }

    /// Returns a number that no other tensor has while this one lives. All handles to the tensor have the same number.
    #[inline]
    #[must_use]
    pub fn identity(&self) -> usize {
        self.0.as_ptr().addr()
    }

    /// Returns the number of handles to the tensor.
    #[cfg(test)]
    pub(crate) fn handle_count(&self) -> usize {
        Shared::handle_count(&self.0)
    }

    /// Returns whether both are handles to one tensor. Equal elements are not enough.
    #[inline]
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        Shared::same(&self.0, &other.0)
    }

    /// Returns the tensor whose history this view shares, see [`make_view_of`](Self::make_view_of).
    #[inline]
    #[must_use]
    pub fn base(&self) -> Option<&Self> {
        self.0.base.as_ref()
    }

    /// Makes a new tensor a view of `base`. Returns false if it has other handles or a base already. `before_mark` runs before the tensor
    /// gets [`Marks::VIEW`].
    #[inline]
    pub(crate) fn set_base(&mut self, base: &Self, before_mark: impl FnOnce()) -> bool {
        match Shared::get_mut(&mut self.0) {
            Some(body) if body.base.is_none() => {
                *body.base = Some(base.clone());
                before_mark();
                *body.marks.get_mut() |= Marks::VIEW.bits();
                true
            }
            _ => false,
        }
    }
}

/// The short form of a tensor in traces and errors: its dtype, sizes and device, without elements.
pub(crate) struct TensorSummary<'a>(pub(crate) &'a Tensor);

impl fmt::Debug for TensorSummary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tensor({} {:?} on {})", self.0.dtype(), self.0.sizes(), self.0.device())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Buffer;
    use crate::Spec;
    use crate::guard;
    use crate::keys::*;

    #[test]
    fn default_keys_are_the_backend_and_the_layers_above_it() {
        let t = Tensor::from_slice(&[1.0_f32]);
        assert_eq!(t.keys(), CPU | ADInplaceOrView | AutogradCPU | AutocastCPU);
        let _inference = guard::inference_mode();
        let t = Tensor::from_slice(&[1.0_f32]);
        assert_eq!(t.keys(), CPU | AutocastCPU);
        assert!(t.is_inference());
    }

    #[test]
    fn a_meta_tensor_needs_no_memory() {
        struct EmptyBuffer;
        impl Buffer for EmptyBuffer {
            fn device(&self) -> Device {
                Device::META
            }
            fn size(&self) -> usize {
                0
            }
        }
        let t = Tensor::new(Storage::new(EmptyBuffer), DType::F32, Geometry::contiguous(&[1000, 1000])).unwrap();
        assert!(t.keys().has(Meta));
    }

    #[test]
    fn views_share_storage_and_version() {
        let mut base = Tensor::from_slice(&[1_i32, 2, 3, 4]);
        let view = base.restride(Geometry::strided(&[2], &[1], 2).unwrap()).unwrap();
        base.write::<i32>().unwrap()[3] = 7;
        assert_eq!(&*view.read::<i32>().unwrap(), [3, 7]);
        assert_eq!(view.storage().version(), base.storage().version());
        assert!(base.restride(Geometry::contiguous(&[5])).is_err());
    }

    #[test]
    fn dropping_a_long_chain_of_bases_does_not_overflow_the_stack() {
        let mut last = Tensor::from_slice(&[1.0_f32]);
        let first = last.clone();
        for _ in 0..1_000_000 {
            let mut view = last.restride(last.geometry().clone()).unwrap();
            assert!(view.make_view_of(&last));
            last = view;
        }
        assert!(first.handle_count() == 2);
        drop(last);
        assert!(first.handle_count() == 1);
    }

    #[test]
    fn a_view_of_an_opaque_tensor_is_opaque() {
        let x = Tensor::from_slice(&[1.0_f32, 2.0, 3.0]);
        let opaque = x.opaque_with_keys(x.keys());
        for geometry in [
            Geometry::contiguous(&[3]),
            Geometry::contiguous(&[1]).with_offset(2),
            Geometry::contiguous(&[0]).with_offset(1),
        ] {
            assert!(opaque.restride(geometry).unwrap().read::<f32>().is_err());
        }
        assert!(opaque.restride(Geometry::contiguous(&[4])).is_err());
    }

    #[test]
    fn impossible_strides_are_rejected_even_if_no_element_uses_them() {
        let storage = Storage::new_host(16);
        let tensor = |sizes: &[i64], strides: &[i64]| {
            Tensor::new(storage.clone(), DType::F32, Geometry::strided(sizes, strides, 0).unwrap())
        };
        for stride in [i64::MIN, -1, i64::MAX, i64::MAX / 4 + 1] {
            let error = tensor(&[1, 4], &[stride, 1]).unwrap_err();
            assert!(error.to_string().contains("fit no memory"), "{error}");
            assert!(tensor(&[0, 4], &[stride, 1]).is_err());
        }
        assert!(tensor(&[1, 4], &[i64::MAX / 4, 1]).is_ok());
        assert!(tensor(&[0, 1 << 61, 4], &[1, 1, 1]).is_err() && tensor(&[0, 1 << 58, 4], &[1, 1, 1]).is_ok());
    }

    #[test]
    fn too_many_elements_are_rejected_even_if_they_share_memory() {
        let one = Tensor::from_slice(&[1_u8]);
        let expanded = |sizes: &[i64]| one.restride(Geometry::strided(sizes, &vec![0; sizes.len()], 0).unwrap());
        assert_eq!(expanded(&[1 << 31, 1 << 31]).unwrap().geometry().count(), 1 << 62);
        assert!(expanded(&[1 << 62, 2]).is_err() && expanded(&[1 << 62, 1 << 62]).is_err());
        let meta = |sizes: &[i64]| Spec::contiguous(DType::F32, sizes).on(Device::META);
        assert!(meta(&[1 << 60]).is_ok());
        assert!(
            meta(&[1 << 61]).is_err() && meta(&[1 << 40, 1 << 40]).is_err() && meta(&[0, 1 << 40, 1 << 40]).is_err()
        );
    }

    #[test]
    fn clones_share_marks() {
        let t = Tensor::from_slice(&[1.0_f64]);
        let other = t.clone();
        other.mark(Marks::REQUIRES_GRAD);
        assert!(t.requires_grad());
        t.unmark(Marks::REQUIRES_GRAD);
        assert!(!other.requires_grad());
    }
}
