//! The tensor: a counted handle to geometry that never changes and memory that is shared.
//!
//! What a tensor *is* - sizes, strides, dtype, keys, storage - is fixed when it is made, so a key set can be read without a lock on
//! every call. What happens *to* it lives elsewhere: data in its [`Storage`], history in its layers' extension slots, and a few
//! marks that every layer wants to read quickly.

pub(crate) mod access;
mod extension;
mod from_array;
mod geometry;
mod marks;
mod operands;
mod overlap;
mod strided;
mod transfer_hold;

use std::any::Any;
use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::error::Error;
use crate::guard;
use crate::key::{AD_INPLACE_OR_VIEW, AUTOCAST, AUTOGRAD, DENSE, Device, KeySet, layer_bit};
use crate::memory::{Shared, Storage};
use crate::scalar::{Bool, DType, Element, Scalar};
use extension::Extensions;

pub use access::{AccessError, Read, Write};
pub use from_array::{Nested, Ragged, Row};
pub use geometry::{Dims, Geometry, element_count};
pub use marks::Marks;
pub use operands::{Operand, Operands};
pub use strided::{Elements, ElementsMut};
pub use transfer_hold::Held;

/// An n-dimensional array on some backend. Cloning it makes another handle to the same array.
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
pub struct Tensor(Shared<Body>);

struct Body {
    keys: KeySet,
    marks: AtomicU8,
    dtype: DType,
    device: Device,
    geometry: Geometry,
    storage: Storage,
    /// Of the first element, where the CPU can address it.
    start: Start,
    extensions: Extensions,
    /// Of what autograd knows it as a view. `drop` drops it.
    base: ManuallyDrop<Option<Tensor>>,
}

impl Drop for Body {
    #[inline]
    fn drop(&mut self) {
        if let Some(base) = self.base.take() {
            drop_bases(base);
        }
    }
}

/// Drops the base of a view, and the base of that, each after the other: a chain of them may be longer than the stack is deep.
fn drop_bases(first: Tensor) {
    let mut next = Some(first);
    while let Some(mut base) = next {
        next = Shared::get_mut(&mut base.0).and_then(|body| body.base.take());
    }
}

/// An address inside of the storage beside it.
#[derive(Clone, Copy)]
struct Start(Option<NonNull<u8>>);

// SAFETY: only the guards of the storage make anything of the address.
unsafe impl Send for Start {}
// SAFETY: as above.
unsafe impl Sync for Start {}

/// A geometry does not fit its storage.
///
/// ```
/// use dispatch_runtime::{DType, Geometry, Storage, Tensor};
/// let error = Tensor::new(Storage::host(8), DType::F32, Geometry::contiguous(&[3])).unwrap_err();
/// assert_eq!(error.to_string(), "sizes [3] with strides [1] from element 0 need 12 bytes of float32, but the storage has 8");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutOfStorage {
    /// The geometry.
    pub geometry: Box<Geometry>,
    /// The dtype.
    pub dtype: DType,
    /// How many bytes the storage has.
    pub available: usize,
}

impl fmt::Display for OutOfStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { geometry, dtype, available } = self;
        let (sizes, strides, offset) = (geometry.sizes(), geometry.strides(), geometry.offset());
        write!(f, "sizes {sizes:?} with strides {strides:?} from element {offset} ")?;
        match geometry.bytes(*dtype) {
            Some(needed) => write!(f, "need {needed} bytes of {dtype}, but the storage has {available}"),
            None => write!(
                f,
                "are no place in memory: a size, stride or offset is negative, or they reach over more than {} bytes of {dtype}",
                isize::MAX
            ),
        }
    }
}

impl std::error::Error for OutOfStorage {}

impl From<OutOfStorage> for Error {
    #[cold]
    fn from(error: OutOfStorage) -> Self {
        Self::kernel(error)
    }
}

impl OutOfStorage {
    /// Of a geometry that no storage holds.
    #[cold]
    pub(crate) fn nowhere(dtype: DType, geometry: &Geometry) -> Self {
        Self { geometry: Box::new(geometry.clone()), dtype, available: 0 }
    }
}

/// How many bytes a tensor's first element is behind the start of its storage.
#[inline]
fn start_of(geometry: &Geometry, dtype: DType) -> usize {
    // An offset of zero needs no look at the rest.
    let offset = if geometry.offset() == 0 || geometry.count() == 0 { 0 } else { geometry.offset() };
    usize::try_from(offset).unwrap_or(0) * dtype.size()
}

/// How many bytes that many elements take, if memory can have so many.
#[inline]
fn bytes(elements: i64, dtype: DType) -> Option<usize> {
    let bytes = usize::try_from(elements).ok()?.checked_mul(dtype.size())?;
    (bytes <= isize::MAX.cast_unsigned()).then_some(bytes)
}

impl Geometry {
    /// How many bytes from the start of a storage the elements reach over. None if a number that kernels compute with is too large for
    /// memory: the product of all sizes, or of some of them if the tensor is empty, or a stride, even if it leads nowhere.
    #[inline]
    pub(crate) fn bytes(&self, dtype: DType) -> Option<usize> {
        let product = if self.count() > 0 { self.count() } else { self.product_of_sizes() };
        // A larger product is as large as numbers go.
        let sizes_fit = product < i64::MAX && bytes(product, dtype).is_some();
        let strides_fit = self.is_canonical() || self.strides().iter().all(|&stride| bytes(stride, dtype).is_some());
        bytes(self.end()?, dtype).filter(|_| sizes_fit && strides_fit)
    }

    #[cold]
    fn product_of_sizes(&self) -> i64 {
        self.sizes().iter().fold(1, |product: i64, &size| product.saturating_mul(size.max(1)))
    }
}

impl Tensor {
    /// A tensor over a storage, with the keys that its backend's tensors carry.
    ///
    /// # Errors
    ///
    /// Where the geometry reaches outside the storage.
    pub fn new(storage: Storage, dtype: DType, geometry: Geometry) -> Result<Self, OutOfStorage> {
        let inference = guard::is_inference_mode();
        let (keys, memory) = (default_keys(storage.device(), inference), storage.memory());
        Self::with_marks(storage, memory, dtype, geometry, keys, Marks::of_new(inference))
    }

    /// `memory` is that of the storage, or none if the elements are to be out of reach.
    fn with_marks(
        storage: Storage,
        memory: Option<NonNull<u8>>,
        dtype: DType,
        geometry: Geometry,
        keys: KeySet,
        marks: Marks,
    ) -> Result<Self, OutOfStorage> {
        // Meta tensors have a shape and no memory.
        let fits = geometry.bytes(dtype).is_some_and(|needed| {
            geometry.count() == 0 || needed <= storage.size() || storage.device().backend() == Device::META.backend()
        });
        if !fits {
            return Err(OutOfStorage { geometry: Box::new(geometry), dtype, available: storage.size() });
        }
        let device = storage.device();
        // SAFETY: the geometry begins inside the storage, unless there is no element at all.
        let start = memory.map(|memory| unsafe { memory.add(start_of(&geometry, dtype)) });
        Ok(Self::body(storage, dtype, &geometry, device, keys, marks, Start(start)))
    }

    /// Callers made sure that all elements are inside the storage, and that `start` is where the first one is.
    #[inline(always)]
    fn body(
        storage: Storage,
        dtype: DType,
        geometry: &Geometry,
        device: Device,
        keys: KeySet,
        marks: Marks,
        start: Start,
    ) -> Self {
        let marks = if start.0.is_none() { marks | Marks::FOREIGN } else { marks };
        let vacant = Shared::<Body>::vacant();
        let body = vacant.place();
        // SAFETY: every field is written before the handle becomes one that drops.
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
        Self(ManuallyDrop::into_inner(vacant))
    }

    /// Where the first element is, if the CPU can address it.
    #[inline]
    fn start(&self) -> Option<NonNull<u8>> {
        self.0.start.0
    }

    /// A tensor over all of a storage of this device that is large enough.
    #[inline(always)]
    pub(crate) fn over(storage: Storage, dtype: DType, geometry: &Geometry, device: Device) -> Self {
        let inference = guard::is_inference_mode();
        let start = Start(storage.memory());
        Self::body(storage, dtype, geometry, device, default_keys(device, inference), Marks::of_new(inference), start)
    }

    /// A one-dimensional CPU tensor with a copy of these elements.
    #[must_use]
    pub fn from_slice<T: Element>(elements: &[T]) -> Self {
        let storage = Storage::host(size_of_val(elements));
        let geometry = Geometry::contiguous(&[i64::try_from(elements.len()).unwrap_or(i64::MAX)]);
        access::fill(&storage, elements);
        Self::over(storage, T::DTYPE, &geometry, Device::CPU)
    }

    /// A plain number as a tensor without dimensions. In a computation with tensors it decides no more than the kind of the result:
    /// `x * 2.0` has the precision of `x`.
    ///
    /// ```
    /// use dispatch_runtime::{DType, Tensor};
    /// let two = Tensor::number(2.into());
    /// assert!(two.is_number() && two.dtype() == DType::I64 && two.sizes().is_empty());
    /// ```
    #[must_use]
    pub fn number(value: Scalar) -> Self {
        let storage = Storage::host(16);
        let dtype = match value {
            Scalar::Bool(value) => access::fill(&storage, &[Bool::from(value)]),
            Scalar::Int(value) => access::fill(&storage, &[value]),
            Scalar::Float(value) => access::fill(&storage, &[value]),
            Scalar::Complex(value) => access::fill(&storage, &[value]),
        };
        let inference = guard::is_inference_mode();
        let keys = default_keys(Device::CPU, inference);
        let (marks, start) = (Marks::of_new(inference) | Marks::NUMBER, Start(storage.memory()));
        Self::body(storage, dtype, &Geometry::contiguous(&[]), Device::CPU, keys, marks, start)
    }

    /// Whether this is a plain number, see [`number`](Self::number).
    #[inline]
    #[must_use]
    pub fn is_number(&self) -> bool {
        self.has_any(Marks::NUMBER)
    }

    /// Another walk through the same storage.
    ///
    /// # Errors
    ///
    /// Where the geometry reaches outside the storage.
    #[inline]
    pub fn restride(&self, geometry: Geometry) -> Result<Self, OutOfStorage> {
        let body = &*self.0;
        let marks = self.marks_of_memory();
        if geometry.is_within(&body.geometry) {
            let storage = body.storage.clone();
            return Ok(Self::body(storage, body.dtype, &geometry, body.device, body.keys, marks, body.start));
        }
        let memory = body.start.0.and_then(|_| body.storage.memory());
        Self::with_marks(body.storage.clone(), memory, body.dtype, geometry, body.keys, marks)
    }

    /// The same array under other keys: how a layer makes tensors of its own kind. History does not come along.
    #[must_use]
    pub fn with_keys(&self, keys: KeySet) -> Self {
        let body = &self.0;
        let marks = self.marks_of_memory();
        Self::body(body.storage.clone(), body.dtype, &body.geometry, body.device, keys, marks, body.start)
    }

    /// The same under other keys, where only operators can say what the elements are: neither [`read`](Self::read) nor a kernel finds
    /// them, nor those of a view of it. A layer whose tensors stand for more than their sizes say makes them so.
    ///
    /// ```
    /// use dispatch_runtime::{Geometry, Tensor};
    /// let x = Tensor::from_slice(&[1.0_f32, 2.0]);
    /// let hidden = x.out_of_reach(x.keys());
    /// assert!(hidden.sizes() == [2] && hidden.read::<f32>().is_err());
    /// let view = hidden.restride(Geometry::contiguous(&[1]).at(1)).unwrap();
    /// assert!(view.read::<f32>().is_err());
    /// ```
    #[must_use]
    pub fn out_of_reach(&self, keys: KeySet) -> Self {
        let body = &self.0;
        let marks = self.marks_of_memory();
        Self::body(body.storage.clone(), body.dtype, &body.geometry, body.device, keys, marks, Start(None))
    }

    /// The keys that this tensor adds to a call.
    #[inline(always)]
    #[must_use]
    pub fn keys(&self) -> KeySet {
        self.0.keys
    }

    /// The type of the elements.
    #[inline]
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.0.dtype
    }

    /// Where the memory is.
    #[inline]
    #[must_use]
    pub fn device(&self) -> Device {
        self.0.device
    }

    /// Sizes, strides and offset.
    #[inline]
    #[must_use]
    pub fn geometry(&self) -> &Geometry {
        &self.0.geometry
    }

    /// How many elements there are in each dimension.
    #[inline]
    #[must_use]
    pub fn sizes(&self) -> &[i64] {
        self.0.geometry.sizes()
    }

    /// How far apart neighbours are in each dimension.
    #[inline]
    #[must_use]
    pub fn strides(&self) -> &[i64] {
        self.0.geometry.strides()
    }

    /// The memory.
    #[inline]
    #[must_use]
    pub fn storage(&self) -> &Storage {
        &self.0.storage
    }

    /// Whether nobody else can reach the elements: this is the only handle, over a storage of its own.
    ///
    /// ```
    /// use dispatch_runtime::Tensor;
    ///
    /// let mut t = Tensor::from_slice(&[1.0_f32]);
    /// assert!(t.is_unique());
    /// let other = t.restride(t.geometry().clone()).unwrap();
    /// assert!(!t.is_unique());
    /// # drop(other);
    /// ```
    #[inline]
    pub fn is_unique(&mut self) -> bool {
        Shared::is_only(&self.0) && self.0.storage.is_unique()
    }

    /// Whether there is no other handle to this tensor.
    #[inline]
    #[must_use]
    pub fn is_only_handle(&mut self) -> bool {
        Shared::is_only(&self.0)
    }

    /// A number that no other tensor has while this one lives; all of its handles have it.
    #[inline]
    #[must_use]
    pub fn identity(&self) -> usize {
        self.0.place().addr()
    }

    /// How many handles there are.
    #[cfg(test)]
    pub(crate) fn handles(&self) -> usize {
        Shared::count(&self.0)
    }

    /// Whether both handles are of the same array, not only of equal ones.
    #[inline]
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        Shared::same(&self.0, &other.0)
    }

    /// Whether the two show no common memory, or exactly the same elements: what a written and a read tensor of one call may do.
    #[must_use]
    pub fn is_apart_from_or_same_as(&self, other: &Self) -> bool {
        let same_walk = || self.sizes() == other.sizes() && self.strides() == other.strides();
        let same_start = || self.0.geometry.offset() == other.0.geometry.offset() && self.dtype() == other.dtype();
        !self.storage().same(other.storage()) || (same_start() && same_walk()) || overlap::are_disjoint(self, other)
    }

    /// Whether the two show exactly the same elements.
    #[must_use]
    #[inline]
    pub fn is_same_elements_as(&self, other: &Self) -> bool {
        // `start_of` ignores the offset of a tensor without elements.
        self.storage().same(other.storage())
            && start_of(&self.0.geometry, self.dtype()) == start_of(&other.0.geometry, other.dtype())
            && self.dtype() == other.dtype()
            && self.sizes() == other.sizes()
            && self.strides() == other.strides()
    }

    /// Whether two of its elements share memory: what is written to may not.
    ///
    /// ```
    /// use dispatch_runtime::{Geometry, Tensor};
    /// let one = Tensor::from_slice(&[1.0_f32]);
    /// let thrice = one.restride(Geometry::strided(&[3], &[0], 0).unwrap()).unwrap();
    /// assert!(thrice.overlaps_itself() && !one.overlaps_itself());
    /// ```
    #[must_use]
    pub fn overlaps_itself(&self) -> bool {
        overlap::overlaps_itself(self.geometry())
    }

    #[inline]
    fn marks_of_memory(&self) -> Marks {
        Marks::from_bits(self.0.marks.load(Ordering::Relaxed)).of_memory()
    }

    /// Whether it carries one of these marks.
    #[inline]
    #[must_use]
    pub fn has_any(&self, marks: Marks) -> bool {
        Marks::from_bits(self.0.marks.load(Ordering::Acquire)).meet(marks)
    }

    /// Sets marks, on all handles at once. For layers, which know what the marks stand for.
    #[inline]
    pub fn mark(&self, marks: Marks) {
        marks.announce();
        self.add_marks(marks);
    }

    /// Sets marks that were announced.
    #[inline]
    pub(crate) fn add_marks(&self, marks: Marks) {
        self.0.marks.fetch_or(marks.bits(), Ordering::Release);
    }

    /// Takes marks away.
    pub fn unmark(&self, marks: Marks) {
        self.0.marks.fetch_and(!marks.bits(), Ordering::Release);
    }

    /// Whether autograd records what is computed from this tensor.
    #[inline]
    #[must_use]
    pub fn requires_grad(&self) -> bool {
        self.has_any(Marks::REQUIRES_GRAD)
    }

    /// Whether the tensor was made in [`guard::inference_mode`]: autograd and view tracking do not know it.
    #[inline]
    #[must_use]
    pub fn is_inference(&self) -> bool {
        self.has_any(Marks::INFERENCE)
    }

    /// Whether the tensor was not computed from others that require gradients.
    #[must_use]
    pub fn is_leaf(&self) -> bool {
        !self.has_any(Marks::RECORDED)
    }

    /// Whether autograd knows the tensor as a view of another one.
    #[must_use]
    pub fn is_view(&self) -> bool {
        self.has_any(Marks::VIEW)
    }

    /// The tensor whose history is that of this view, see [`tie_to`](Self::tie_to).
    #[inline]
    #[must_use]
    pub fn base(&self) -> Option<&Self> {
        self.0.base.as_ref()
    }

    /// Makes a fresh tensor a view of `base`, which lives as long. For the layer that follows views; false where it has other handles
    /// already, or a base.
    ///
    /// ```
    /// use dispatch_runtime::Tensor;
    ///
    /// let base = Tensor::from_slice(&[1.0_f32]);
    /// let mut view = base.restride(base.geometry().clone()).unwrap();
    /// assert!(view.tie_to(&base) && view.is_view());
    /// assert!(view.base().unwrap().same(&base));
    /// ```
    #[inline]
    pub fn tie_to(&mut self, base: &Self) -> bool {
        self.set_base(base, || Marks::VIEW.announce())
    }

    /// Makes a fresh tensor a view of `base`. `announce` runs before the tensor gets the mark of a view.
    #[inline]
    pub(crate) fn set_base(&mut self, base: &Self, announce: impl FnOnce()) -> bool {
        match Shared::get_mut(&mut self.0) {
            Some(body) if body.base.is_none() => {
                *body.base = Some(base.clone());
                announce();
                *body.marks.get_mut() |= Marks::VIEW.bits();
                true
            }
            _ => false,
        }
    }

    /// What a layer remembers about this tensor, under a type of the layer's own.
    ///
    /// ```
    /// # use dispatch_runtime::Tensor;
    /// struct Label(&'static str);
    ///
    /// let t = Tensor::from_slice(&[0_i64]);
    /// t.extension_or_init(|| Label("input"));
    /// assert_eq!(t.clone().extension::<Label>().unwrap().0, "input");
    /// ```
    #[inline]
    #[must_use]
    pub fn extension<T: Any>(&self) -> Option<&T> {
        self.0.extensions.get()
    }

    /// Remembers a small value about a fresh tensor, inside of its body. Where it has such a value or other handles already, or `value`
    /// is larger than two words, it comes back: it is one for [`extension_or_init`](Self::extension_or_init).
    ///
    /// ```
    /// # use dispatch_runtime::Tensor;
    /// let mut t = Tensor::from_slice(&[0_i64]);
    /// assert_eq!(t.set_extension("input"), Ok(()));
    /// assert_eq!(t.extension::<&str>(), Some(&"input"));
    /// let other = t.clone();
    /// assert_eq!(t.set_extension("output"), Err("output"));
    /// ```
    #[inline]
    pub fn set_extension<T: Any + Send + Sync>(&mut self, value: T) -> Result<(), T> {
        match Shared::get_mut(&mut self.0) {
            Some(body) => body.extensions.set(value),
            None => Err(value),
        }
    }

    /// The same, made by `init` if there is nothing yet.
    #[inline]
    pub fn extension_or_init<T: Any + Send + Sync>(&self, init: impl FnOnce() -> T) -> &T {
        self.0.extensions.get_or_init(init)
    }
}

/// The keys of a tensor of this device: its data, its view tracking, its autograd and its autocast.
#[inline]
fn default_keys(device: Device, inference: bool) -> KeySet {
    let tracked = if inference { 0 } else { layer_bit(AD_INPLACE_OR_VIEW) | layer_bit(AUTOGRAD) };
    KeySet::from_bits(layer_bit(DENSE) | layer_bit(AUTOCAST) | tracked | 1 << device.backend())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Buffer;
    use crate::Spec;
    use crate::keys::*;

    #[test]
    fn a_tensor_carries_its_backend_and_the_layers_above_it() {
        let t = Tensor::from_slice(&[1.0_f32]);
        assert_eq!(t.keys(), CPU | ADInplaceOrView | AutogradCPU | AutocastCPU);
        let _inference = guard::inference_mode();
        let t = Tensor::from_slice(&[1.0_f32]);
        assert_eq!(t.keys(), CPU | AutocastCPU);
        assert!(t.is_inference());
    }

    #[test]
    fn a_meta_tensor_needs_no_memory() {
        struct Nothing;
        impl Buffer for Nothing {
            fn device(&self) -> Device {
                Device::META
            }
            fn size(&self) -> usize {
                0
            }
        }
        let t = Tensor::new(Storage::new(Nothing), DType::F32, Geometry::contiguous(&[1000, 1000])).unwrap();
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
    fn a_long_chain_of_bases_is_dropped_one_by_one() {
        let mut last = Tensor::from_slice(&[1.0_f32]);
        let first = last.clone();
        for _ in 0..1_000_000 {
            let mut view = last.restride(last.geometry().clone()).unwrap();
            assert!(view.tie_to(&last));
            last = view;
        }
        assert!(first.handles() == 2);
        drop(last);
        assert!(first.handles() == 1);
    }

    #[test]
    fn a_view_of_what_is_out_of_reach_is_out_of_reach() {
        let x = Tensor::from_slice(&[1.0_f32, 2.0, 3.0]);
        let hidden = x.out_of_reach(x.keys());
        for geometry in [Geometry::contiguous(&[3]), Geometry::contiguous(&[1]).at(2), Geometry::contiguous(&[0]).at(1)]
        {
            assert!(hidden.restride(geometry).unwrap().read::<f32>().is_err());
        }
        assert!(hidden.restride(Geometry::contiguous(&[4])).is_err());
    }

    #[test]
    fn strides_that_no_memory_has_are_refused_even_if_they_lead_nowhere() {
        let storage = Storage::host(16);
        let tensor = |sizes: &[i64], strides: &[i64]| {
            Tensor::new(storage.clone(), DType::F32, Geometry::strided(sizes, strides, 0).unwrap())
        };
        for stride in [i64::MIN, -1, i64::MAX, i64::MAX / 4 + 1] {
            let error = tensor(&[1, 4], &[stride, 1]).unwrap_err();
            assert!(error.to_string().contains("are no place in memory"), "{error}");
            assert!(tensor(&[0, 4], &[stride, 1]).is_err());
        }
        assert!(tensor(&[1, 4], &[i64::MAX / 4, 1]).is_ok());
        assert!(tensor(&[0, 1 << 61, 4], &[1, 1, 1]).is_err() && tensor(&[0, 1 << 58, 4], &[1, 1, 1]).is_ok());
    }

    #[test]
    fn more_elements_than_can_be_counted_are_refused_even_if_they_share_one_place() {
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
    fn clones_share_marks_and_extensions() {
        let t = Tensor::from_slice(&[1.0_f64]);
        let other = t.clone();
        other.mark(Marks::REQUIRES_GRAD);
        assert!(t.requires_grad());
        t.unmark(Marks::REQUIRES_GRAD);
        assert!(!other.requires_grad());
    }
}
