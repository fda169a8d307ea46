//! Arrays on the host: the elements of a tensor in logical order, and the geometry that the tensor should have.
//!
//! No backend is used here, so expectations cannot inherit a backend's mistakes.

use dispatch_runtime::{DType, Geometry, Scalar};

/// The elements of a tensor in logical order, with its dtype, sizes, strides and storage offset.
///
/// ```
/// use dispatch_checks::plumbing::Array;
/// use dispatch_runtime::{DType, Scalar};
///
/// let column = Array::new(DType::I64, &[2, 1], vec![Scalar::Int(3), Scalar::Int(4)]);
/// assert_eq!(column.strides, [1, 1]);
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Array {
    /// The dtype of the elements.
    pub dtype: DType,
    /// The number of elements in each dimension.
    pub sizes: Vec<i64>,
    /// The distance in memory between neighbours in each dimension, in elements.
    pub strides: Vec<i64>,
    /// The offset of the first element in the storage, in elements.
    pub offset: i64,
    /// The elements in logical order: the last dimension is innermost.
    pub elements: Vec<Scalar>,
}

impl Array {
    /// Creates a contiguous array with offset 0.
    #[must_use]
    pub fn new(dtype: DType, sizes: &[i64], elements: Vec<Scalar>) -> Self {
        let strides = Geometry::contiguous(sizes).strides().to_vec();
        Self { dtype, sizes: sizes.to_vec(), strides, offset: 0, elements }
    }

    /// Creates a contiguous array of dtype `F64`.
    #[must_use]
    pub fn from_floats(sizes: &[i64], elements: &[f64]) -> Self {
        Self::new(DType::F64, sizes, elements.iter().map(|&element| Scalar::Float(element)).collect())
    }

    /// Returns the number of elements that the storage must hold for this geometry.
    ///
    /// ```
    /// # use dispatch_checks::plumbing::Array;
    /// # use dispatch_runtime::{DType, Scalar};
    /// let array = Array { strides: vec![3], ..Array::new(DType::I64, &[2], vec![Scalar::Int(0); 2]) };
    /// assert_eq!(array.required_element_count(), 4);
    /// ```
    #[must_use]
    pub fn required_element_count(&self) -> usize {
        if self.sizes.contains(&0) {
            return 0;
        }
        let last: i64 = self.sizes.iter().zip(&self.strides).map(|(size, stride)| (size - 1) * stride).sum();
        usize::try_from(self.offset + last + 1).unwrap_or(0)
    }

    /// Returns the storage index of each element, in logical order.
    ///
    /// ```
    /// # use dispatch_checks::plumbing::Array;
    /// # use dispatch_runtime::{DType, Scalar};
    /// let array = Array { strides: vec![1, 2], ..Array::new(DType::I64, &[2, 2], vec![Scalar::Int(0); 4]) };
    /// assert_eq!(array.storage_indices(), [0, 2, 1, 3]);
    /// ```
    #[must_use]
    pub fn storage_indices(&self) -> Vec<usize> {
        storage_indices(&self.sizes, &self.strides, self.offset)
    }

    /// Returns the array with another dtype and unchanged elements: they are not rounded.
    ///
    /// ```
    /// # use dispatch_checks::plumbing::Array;
    /// # use dispatch_runtime::{DType, Scalar};
    /// let array = Array::new(DType::F32, &[1], vec![Scalar::Float(1.5)]);
    /// assert_eq!(array.with_dtype(DType::F64).dtype, DType::F64);
    /// ```
    #[must_use]
    pub fn with_dtype(&self, dtype: DType) -> Self {
        Self { dtype, ..self.clone() }
    }

    /// Returns the array with contiguous strides and offset 0.
    ///
    /// ```
    /// # use dispatch_checks::plumbing::Array;
    /// # use dispatch_runtime::{DType, Scalar};
    /// let array = Array { strides: vec![0], ..Array::new(DType::I64, &[2], vec![Scalar::Int(0); 2]) };
    /// assert_eq!(array.contiguous().strides, [1]);
    /// ```
    #[must_use]
    pub fn contiguous(&self) -> Self {
        Self::new(self.dtype, &self.sizes, self.elements.clone())
    }

    /// Whether two elements have the same storage index.
    ///
    /// ```
    /// # use dispatch_checks::plumbing::Array;
    /// # use dispatch_runtime::{DType, Scalar};
    /// let array = Array { strides: vec![0], ..Array::new(DType::I64, &[2], vec![Scalar::Int(0); 2]) };
    /// assert!(array.overlaps_itself() && !array.contiguous().overlaps_itself());
    /// ```
    #[must_use]
    pub fn overlaps_itself(&self) -> bool {
        let mut places = self.storage_indices();
        places.sort_unstable();
        places.windows(2).any(|pair| pair[0] == pair[1])
    }
}

/// Returns the storage index of each element of a geometry, in logical order.
#[must_use]
pub fn storage_indices(sizes: &[i64], strides: &[i64], offset: i64) -> Vec<usize> {
    let mut places = vec![offset];
    for (&size, &stride) in sizes.iter().zip(strides) {
        places = places.iter().flat_map(|&start| (0..size).map(move |step| start + step * stride)).collect();
    }
    places.into_iter().filter_map(|place| usize::try_from(place).ok()).collect()
}
