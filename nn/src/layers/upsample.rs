//! Resizing of sequences, images and volumes.

use aten::IntList;
use aten::functional::{InterpolationMode, OutputSize, interpolate};
use dispatch_runtime::{BadArgument, IntoSizes, Result, Tensor};

use crate::forward::Forward;
use crate::summary::observe;

/// The size of a result: fixed sizes, or factors of the sizes of the input.
#[derive(Clone, Debug)]
enum Target {
    Sizes(IntList),
    ScaleFactors(Vec<f64>),
}

impl Target {
    fn factors(factors: &[f64]) -> Result<Self> {
        match factors.iter().find(|&&factor| !(factor > 0.0 && factor.is_finite())) {
            Some(&wrong) => Err(BadArgument::value("scale_factor", wrong, "positive and finite").into()),
            None => Ok(Self::ScaleFactors(factors.to_vec())),
        }
    }

    fn interpolate(&self, x: &Tensor, mode: InterpolationMode) -> Result<Tensor> {
        let size = match self {
            Self::Sizes(sizes) => OutputSize::Sizes(sizes.as_slice()),
            Self::ScaleFactors(factors) => OutputSize::ScaleFactors(factors),
        };
        interpolate(x, size, mode)
    }
}

/// Resizes sequences, images or volumes: `[items, channels, ..]`.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_nn::{Forward, InterpolationMode, Upsample};
/// use dispatch_runtime::Tensor;
///
/// let image = Tensor::zeros((1, 3, 8, 8), ())?;
/// assert_eq!(Upsample::by_factor([2.0], InterpolationMode::Nearest)?.forward(&image)?.sizes(), [1, 3, 16, 16]);
/// assert_eq!(Upsample::to_size((4, 6), "bilinear".parse()?).forward(&image)?.sizes(), [1, 3, 4, 6]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, Debug, crate::Module)]
pub struct Upsample {
    #[module(skip)]
    target: Target,
    #[module(skip)]
    mode: InterpolationMode,
}

impl Upsample {
    /// Creates a layer whose result has a fixed size. PyTorch: `Upsample(size=...)`.
    #[must_use]
    pub fn to_size(size: impl IntoSizes, mode: InterpolationMode) -> Self {
        Self { target: Target::Sizes(size.into()), mode }
    }

    /// Creates a layer that multiplies sizes. One factor counts for all dimensions. PyTorch: `Upsample(scale_factor=...)`.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`] for a factor that is not positive.
    pub fn by_factor(scale_factor: impl AsRef<[f64]>, mode: InterpolationMode) -> Result<Self> {
        Ok(Self { target: Target::factors(scale_factor.as_ref())?, mode })
    }
}

impl Forward for Upsample {
    type Output = Tensor;

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        observe(self, self.target.interpolate(x, self.mode))
    }
}

macro_rules! define_image_upsamplings {
    ($($(#[$doc:meta])* $name:ident $mode:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, crate::Module)]
        pub struct $name {
            #[module(skip)]
            target: Target,
        }

        impl $name {
            /// Creates a layer whose result has a fixed size.
            #[must_use]
            pub fn to_size(size: impl IntoSizes) -> Self {
                Self { target: Target::Sizes(size.into()) }
            }

            /// Creates a layer that multiplies sizes. One factor counts for both dimensions.
            ///
            /// # Errors
            ///
            /// Returns [`BadArgument`] for a factor that is not positive.
            pub fn by_factor(scale_factor: impl AsRef<[f64]>) -> Result<Self> {
                Ok(Self { target: Target::factors(scale_factor.as_ref())? })
            }
        }

        impl Forward for $name {
            type Output = Tensor;

            fn forward(&self, x: &Tensor) -> Result<Tensor> {
                match x.sizes().len() {
                    4 => observe(self, self.target.interpolate(x, $mode)),
                    rank => Err(BadArgument::rank("input", rank, 4).into()),
                }
            }
        }
    )*};
}

define_image_upsamplings! {
    /// Resizes images to the nearest elements.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{Forward, UpsamplingNearest2d};
    /// use dispatch_runtime::Tensor;
    ///
    /// let layer = UpsamplingNearest2d::by_factor([2.0])?;
    /// assert_eq!(layer.forward(&Tensor::zeros((1, 3, 8, 8), ())?)?.sizes(), [1, 3, 16, 16]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    UpsamplingNearest2d InterpolationMode::Nearest;

    /// Resizes images linearly between elements. The corners of the result are those of the input.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{Forward, UpsamplingBilinear2d};
    /// use dispatch_runtime::Tensor;
    ///
    /// let layer = UpsamplingBilinear2d::to_size((4, 6));
    /// assert_eq!(layer.forward(&Tensor::zeros((1, 3, 8, 8), ())?)?.sizes(), [1, 3, 4, 6]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    UpsamplingBilinear2d InterpolationMode::Linear { align_corners: true };
}
