//! The outline of a tensor: its geometry, dtype and device without its elements.

use std::ops::Deref;

use aten::prelude::*;
use dispatch_runtime::{DType, Device, Geometry, Result, Tensor};

/// Geometry, dtype and device of a tensor. A derivative that needs only these keeps no memory alive.
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_autograd::TensorOutline;
/// use dispatch_runtime::Tensor;
///
/// let outline = TensorOutline::from_tensor(&Tensor::from_slice(&[1.0_f32, 2.0]));
/// assert_eq!(outline.sizes(), [2]);
/// assert_eq!(&*outline.zeros().unwrap().read::<f32>().unwrap(), [0.0, 0.0]);
/// ```
#[derive(Clone, Debug)]
pub struct TensorOutline {
    geometry: Geometry,
    dtype: DType,
    device: Device,
}

impl TensorOutline {
    /// Returns the geometry, dtype and device of a tensor.
    #[inline]
    #[must_use]
    pub fn from_tensor(tensor: &Tensor) -> Self {
        Self { geometry: tensor.geometry().clone(), dtype: tensor.dtype(), device: tensor.device() }
    }

    /// Returns the size of each dimension.
    #[must_use]
    pub fn sizes(&self) -> &[i64] {
        self.geometry.sizes()
    }

    /// Returns the sizes, strides and offset of the tensor.
    #[must_use]
    pub const fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Returns the number of dimensions.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.geometry.rank()
    }

    /// Returns the number of elements.
    #[must_use]
    pub fn element_count(&self) -> i64 {
        self.geometry.count()
    }

    /// Returns the dtype of the tensor.
    #[must_use]
    pub const fn dtype(&self) -> DType {
        self.dtype
    }

    /// Returns the device of the tensor.
    #[must_use]
    pub const fn device(&self) -> Device {
        self.device
    }

    /// Returns a tensor of zeros with these sizes, this dtype and this device.
    ///
    /// # Errors
    ///
    /// Returns an error if the allocation fails.
    pub fn zeros(&self) -> Result<Tensor> {
        Tensor::zeros(self.sizes(), (self.dtype, self.device))
    }

    /// Returns a copy of the outline with another geometry.
    pub(crate) fn with_geometry(&self, geometry: Geometry) -> Self {
        Self { geometry, ..*self }
    }

    /// Returns a tensor of zeros with these sizes that allocates one element only. It is for operators that only read sizes.
    pub(crate) fn expanded_zero(&self) -> Result<Tensor> {
        Tensor::zeros((), (self.dtype, self.device))?.expand(self.sizes())
    }
}

/// The outlines of the results of a call, of which most calls have one.
pub(crate) enum ResultOutlines {
    One(TensorOutline),
    Several(Vec<TensorOutline>),
}

impl Default for ResultOutlines {
    #[inline]
    fn default() -> Self {
        Self::Several(Vec::new())
    }
}

impl Deref for ResultOutlines {
    type Target = [TensorOutline];

    fn deref(&self) -> &[TensorOutline] {
        match self {
            Self::One(outline) => std::slice::from_ref(outline),
            Self::Several(outlines) => outlines,
        }
    }
}

/// Whether a dtype has gradients: a floating or complex one.
pub(crate) fn is_differentiable(dtype: DType) -> bool {
    dtype.is_floating() || dtype.is_complex()
}
