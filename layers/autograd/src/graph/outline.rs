//! What is known of a tensor without its elements.

use std::ops::Deref;

use aten::prelude::*;
use dispatch_runtime::{DType, Device, Geometry, Result, Tensor};

/// Geometry, dtype and device of a tensor. A derivative that only needs these keeps no memory alive for them.
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_autograd::Outline;
/// use dispatch_runtime::Tensor;
///
/// let outline = Outline::of(&Tensor::from_slice(&[1.0_f32, 2.0]));
/// assert_eq!(outline.sizes(), [2]);
/// assert_eq!(&*outline.zeros().unwrap().read::<f32>().unwrap(), [0.0, 0.0]);
/// ```
#[derive(Clone, Debug)]
pub struct Outline {
    geometry: Geometry,
    dtype: DType,
    device: Device,
}

impl Outline {
    /// That of a tensor.
    #[inline]
    #[must_use]
    pub fn of(tensor: &Tensor) -> Self {
        Self { geometry: tensor.geometry().clone(), dtype: tensor.dtype(), device: tensor.device() }
    }

    /// How many elements there are in each dimension.
    #[must_use]
    pub fn sizes(&self) -> &[i64] {
        self.geometry.sizes()
    }

    /// Sizes, strides and offset.
    #[must_use]
    pub const fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// How many dimensions there are.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.geometry.rank()
    }

    /// How many elements there are.
    #[must_use]
    pub fn count(&self) -> i64 {
        self.geometry.count()
    }

    /// The type of the elements.
    #[must_use]
    pub const fn dtype(&self) -> DType {
        self.dtype
    }

    /// Where the memory is.
    #[must_use]
    pub const fn device(&self) -> Device {
        self.device
    }

    /// A tensor like it, of zeros.
    ///
    /// # Errors
    ///
    /// Where there is no memory for it.
    pub fn zeros(&self) -> Result<Tensor> {
        Tensor::zeros(self.sizes(), (self.dtype, self.device))
    }

    /// The same storage, shown otherwise.
    pub(crate) fn with(&self, geometry: Geometry) -> Self {
        Self { geometry, ..*self }
    }

    /// A tensor like it, without memory for its elements: each shows the same zero. For operators that only ask for sizes.
    pub(crate) fn stand_in(&self) -> Result<Tensor> {
        Tensor::zeros(&[], (self.dtype, self.device))?.expand(self.sizes())
    }
}

/// What the results of a call look like. There is mostly one.
pub(crate) enum Outlines {
    One(Outline),
    Several(Vec<Outline>),
}

impl Default for Outlines {
    #[inline]
    fn default() -> Self {
        Self::Several(Vec::new())
    }
}

impl Deref for Outlines {
    type Target = [Outline];

    fn deref(&self) -> &[Outline] {
        match self {
            Self::One(outline) => std::slice::from_ref(outline),
            Self::Several(outlines) => outlines,
        }
    }
}

/// Whether numbers of this type vary continuously.
pub(crate) fn is_differentiable(dtype: DType) -> bool {
    dtype.is_floating() || dtype.is_complex()
}
