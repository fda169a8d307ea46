//! Whether a geometry lies inside of a storage.

use std::fmt;

use super::geometry::Geometry;
use crate::error::Error;
use crate::scalar::DType;

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
pub(super) fn start_of(geometry: &Geometry, dtype: DType) -> usize {
    // An offset of zero needs no look at the rest.
    let offset = if geometry.offset() == 0 || geometry.count() == 0 { 0 } else { geometry.offset() };
    usize::try_from(offset).unwrap_or(0) * dtype.size()
}

/// How many bytes that many elements take, if memory can have so many.
#[inline]
pub(super) fn bytes(elements: i64, dtype: DType) -> Option<usize> {
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
