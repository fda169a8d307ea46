//! Bounds checks: whether a geometry fits into a storage.

use std::fmt;

use super::geometry::Geometry;
use crate::error::Error;
use crate::scalar::DType;

/// The error for a geometry that does not fit into its storage.
///
/// ```
/// use dispatch_runtime::{DType, Geometry, Storage, Tensor};
/// let error = Tensor::new(Storage::new_host(8), DType::F32, Geometry::contiguous(&[3])).unwrap_err();
/// assert_eq!(error.to_string(), "sizes [3] with strides [1] from element 0 need 12 bytes of float32, but the storage has 8");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutOfStorage {
    /// The geometry that does not fit.
    pub geometry: Box<Geometry>,
    /// The dtype of the elements.
    pub dtype: DType,
    /// The size of the storage in bytes.
    pub available: usize,
}

impl fmt::Display for OutOfStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { geometry, dtype, available } = self;
        let (sizes, strides, offset) = (geometry.sizes(), geometry.strides(), geometry.offset());
        write!(f, "sizes {sizes:?} with strides {strides:?} from element {offset} ")?;
        match geometry.required_bytes(*dtype) {
            Some(needed) => write!(f, "need {needed} bytes of {dtype}, but the storage has {available}"),
            None => write!(
                f,
                "fit no memory: a size, stride or offset is negative, or the elements span more than {} bytes of {dtype}",
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
    /// Creates the error for a geometry that fits into no storage.
    #[cold]
    pub(crate) fn too_large_for_any_storage(dtype: DType, geometry: &Geometry) -> Self {
        Self { geometry: Box::new(geometry.clone()), dtype, available: 0 }
    }
}

/// Returns the offset in bytes of a tensor's first element from the start of its storage.
#[inline]
pub(super) fn start_byte(geometry: &Geometry, dtype: DType) -> usize {
    // If the offset is zero, the count need not be read.
    let offset = if geometry.offset() == 0 || geometry.count() == 0 { 0 } else { geometry.offset() };
    usize::try_from(offset).unwrap_or(0) * dtype.size()
}

/// Returns the number of bytes of `elements` elements, or `None` if no memory can have so many.
#[inline]
pub(super) fn byte_count(elements: i64, dtype: DType) -> Option<usize> {
    let bytes = usize::try_from(elements).ok()?.checked_mul(dtype.size())?;
    (bytes <= isize::MAX.cast_unsigned()).then_some(bytes)
}

impl Geometry {
    /// Returns the number of bytes from the start of a storage to the end of the elements. Returns `None` if a number that kernels compute
    /// with is too large for memory: the product of the sizes (of those that are not 0 if the tensor is empty), or a stride, even of a
    /// dimension of size 1.
    #[inline]
    pub(crate) fn required_bytes(&self, dtype: DType) -> Option<usize> {
        let product = if self.count() > 0 { self.count() } else { self.product_of_nonzero_sizes() };
        // A product that overflows is `i64::MAX`.
        let sizes_fit = product < i64::MAX && byte_count(product, dtype).is_some();
        let strides_fit =
            self.is_canonical() || self.strides().iter().all(|&stride| byte_count(stride, dtype).is_some());
        byte_count(self.end()?, dtype).filter(|_| sizes_fit && strides_fit)
    }

    #[cold]
    fn product_of_nonzero_sizes(&self) -> i64 {
        self.sizes().iter().fold(1, |product: i64, &size| product.saturating_mul(size.max(1)))
    }
}
