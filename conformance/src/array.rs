//! Tensors as the suite thinks of them: numbers in logical order, and the geometry that a tensor of them should have.
//!
//! Everything here is far from any backend, so that expectations cannot inherit a backend's mistakes.

use dispatch_runtime::{DType, Geometry, Scalar};

/// The elements of a tensor in logical order, with sizes and strides.
///
/// ```
/// use conformance::Array;
/// use dispatch_runtime::{DType, Scalar};
///
/// let column = Array::new(DType::I64, &[2, 1], vec![Scalar::Int(3), Scalar::Int(4)]);
/// assert_eq!(column.strides, [1, 1]);
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Array {
    /// The type of the elements.
    pub dtype: DType,
    /// How many elements there are in each dimension.
    pub sizes: Vec<i64>,
    /// How far apart neighbours are in each dimension.
    pub strides: Vec<i64>,
    /// Where the first element is.
    pub offset: i64,
    /// The elements, the last dimension innermost.
    pub elements: Vec<Scalar>,
}

impl Array {
    /// Contiguous elements.
    #[must_use]
    pub fn new(dtype: DType, sizes: &[i64], elements: Vec<Scalar>) -> Self {
        let strides = Geometry::contiguous(sizes).strides().to_vec();
        Self { dtype, sizes: sizes.to_vec(), strides, offset: 0, elements }
    }

    /// Contiguous elements in double precision.
    pub(crate) fn floats(sizes: &[i64], elements: &[f64]) -> Self {
        Self::new(DType::F64, sizes, elements.iter().map(|&element| Scalar::Float(element)).collect())
    }

    /// How many elements memory must hold, so that every element has a place.
    ///
    /// ```
    /// # use conformance::Array;
    /// # use dispatch_runtime::{DType, Scalar};
    /// let array = Array { strides: vec![3], ..Array::new(DType::I64, &[2], vec![Scalar::Int(0); 2]) };
    /// assert_eq!(array.extent(), 4);
    /// ```
    #[must_use]
    pub fn extent(&self) -> usize {
        if self.sizes.contains(&0) {
            return 0;
        }
        let last: i64 = self.sizes.iter().zip(&self.strides).map(|(size, stride)| (size - 1) * stride).sum();
        usize::try_from(self.offset + last + 1).unwrap_or(0)
    }

    /// Where each element lies in memory, in logical order.
    ///
    /// ```
    /// # use conformance::Array;
    /// # use dispatch_runtime::{DType, Scalar};
    /// let array = Array { strides: vec![1, 2], ..Array::new(DType::I64, &[2, 2], vec![Scalar::Int(0); 4]) };
    /// assert_eq!(array.places(), [0, 2, 1, 3]);
    /// ```
    #[must_use]
    pub fn places(&self) -> Vec<usize> {
        places(&self.sizes, &self.strides, self.offset)
    }

    /// The same elements in another dtype.
    ///
    /// ```
    /// # use conformance::Array;
    /// # use dispatch_runtime::{DType, Scalar};
    /// let array = Array::new(DType::F32, &[1], vec![Scalar::Float(1.5)]);
    /// assert_eq!(array.cast(DType::F64).dtype, DType::F64);
    /// ```
    #[must_use]
    pub fn cast(&self, dtype: DType) -> Self {
        Self { dtype, ..self.clone() }
    }

    /// The same elements, side by side.
    ///
    /// ```
    /// # use conformance::Array;
    /// # use dispatch_runtime::{DType, Scalar};
    /// let array = Array { strides: vec![0], ..Array::new(DType::I64, &[2], vec![Scalar::Int(0); 2]) };
    /// assert_eq!(array.contiguous().strides, [1]);
    /// ```
    #[must_use]
    pub fn contiguous(&self) -> Self {
        Self::new(self.dtype, &self.sizes, self.elements.clone())
    }

    /// Whether two elements share a place.
    ///
    /// ```
    /// # use conformance::Array;
    /// # use dispatch_runtime::{DType, Scalar};
    /// let array = Array { strides: vec![0], ..Array::new(DType::I64, &[2], vec![Scalar::Int(0); 2]) };
    /// assert!(array.overlaps_itself() && !array.contiguous().overlaps_itself());
    /// ```
    #[must_use]
    pub fn overlaps_itself(&self) -> bool {
        let mut places = self.places();
        places.sort_unstable();
        places.windows(2).any(|pair| pair[0] == pair[1])
    }
}

/// Where elements lie in memory, in logical order.
pub(crate) fn places(sizes: &[i64], strides: &[i64], offset: i64) -> Vec<usize> {
    let mut places = vec![offset];
    for (&size, &stride) in sizes.iter().zip(strides) {
        places = places.iter().flat_map(|&start| (0..size).map(move |step| start + step * stride)).collect();
    }
    places.into_iter().filter_map(|place| usize::try_from(place).ok()).collect()
}
