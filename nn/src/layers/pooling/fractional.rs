//! Maxima of windows at random positions.

use aten::prelude::*;
use dispatch_runtime::{BadArgument, Dims, IntoSizes, Result, Tensor};

use super::super::per_dimension::{factors_per_dimension, per_dimension};
use crate::forward::Forward;
use crate::summary::observe;

/// The size of an output: a fixed one, or a part of the size of the input.
#[derive(Clone, Copy, Debug)]
enum Target<const N: usize> {
    Size([i64; N]),
    Ratio([f64; N]),
}

macro_rules! define_fractional_pools {
    ($($(#[$doc:meta])* $name:ident $rank:literal $pool:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, crate::Module)]
        pub struct $name {
            kernel_size: [i64; $rank],
            #[module(skip)]
            target: Target<$rank>,
        }

        impl $name {
            /// Creates a layer whose output has a fixed size.
            ///
            /// # Errors
            ///
            /// Returns [`BadArgument`] for a size below 1.
            pub fn new(kernel_size: impl IntoSizes, output_size: impl IntoSizes) -> Result<Self> {
                let target = Target::Size(per_dimension("output_size", &output_size.into_sizes(), 1)?);
                Ok(Self { kernel_size: per_dimension("kernel_size", &kernel_size.into_sizes(), 1)?, target })
            }

            /// Creates a layer whose output has these parts of the sizes of the input: `[0.5]` halves all. PyTorch: `output_ratio=...`.
            ///
            /// # Errors
            ///
            /// Returns [`BadArgument`] for a size below 1, or a ratio that is not between 0 and 1.
            pub fn with_ratio(kernel_size: impl IntoSizes, output_ratio: impl AsRef<[f64]>) -> Result<Self> {
                let ratios = factors_per_dimension("output_ratio", output_ratio.as_ref())?;
                if let Some(&wrong) = ratios.iter().find(|&&ratio| !(ratio > 0.0 && ratio < 1.0)) {
                    return Err(BadArgument::value("output_ratio", wrong, "more than 0 and less than 1").into());
                }
                let target = Target::Ratio(ratios);
                Ok(Self { kernel_size: per_dimension("kernel_size", &kernel_size.into_sizes(), 1)?, target })
            }

            /// Returns also the index of each maximum in its channel. PyTorch: `return_indices=True`.
            ///
            /// # Errors
            ///
            /// Returns the error of the operator, for an input of wrong sizes.
            pub fn forward_with_indices(&self, x: &Tensor) -> Result<(Tensor, Tensor)> {
                let (samples, output_size) = samples_and_size(x, self.target)?;
                aten::$pool(x, &self.kernel_size, &output_size, &samples)
            }
        }

        impl Forward for $name {
            type Output = Tensor;

            fn forward(&self, x: &Tensor) -> Result<Tensor> {
                observe(self, self.forward_with_indices(x).map(|results| results.0))
            }
        }
    )*};
}

define_fractional_pools! {
    /// The maxima of windows of images at random positions, also in evaluation. The size of the output need not divide that of the input.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{Forward, FractionalMaxPool2d};
    /// use dispatch_runtime::Tensor;
    ///
    /// let x = Tensor::zeros((1, 3, 10, 10), ())?;
    /// assert_eq!(FractionalMaxPool2d::new(2, 7)?.forward(&x)?.sizes(), [1, 3, 7, 7]);
    /// assert_eq!(FractionalMaxPool2d::with_ratio(2, [0.7, 0.5])?.forward(&x)?.sizes(), [1, 3, 7, 5]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    FractionalMaxPool2d 2 fractional_max_pool2d;

    /// The maxima of windows of volumes at random positions, also in evaluation. The size of the output need not divide that of the input.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{Forward, FractionalMaxPool3d};
    /// use dispatch_runtime::Tensor;
    ///
    /// let x = Tensor::zeros((1, 3, 10, 10, 10), ())?;
    /// assert_eq!(FractionalMaxPool3d::with_ratio(2, [0.5])?.forward(&x)?.sizes(), [1, 3, 5, 5, 5]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    FractionalMaxPool3d 3 fractional_max_pool3d;
}

/// Returns a random number for each item, channel and dimension, and the sizes of the output.
fn samples_and_size<const N: usize>(x: &Tensor, target: Target<N>) -> Result<(Tensor, Dims)> {
    let (items, channels, inner) = match x.sizes() {
        [channels, inner @ ..] if inner.len() == N => (1, *channels, inner),
        [items, channels, inner @ ..] if inner.len() == N => (*items, *channels, inner),
        other => return Err(BadArgument::rank("input", other.len(), N + 1..=N + 2).into()),
    };
    let output_size = match target {
        Target::Size(sizes) => Dims::from_slice(&sizes),
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_precision_loss,
            reason = "a part of a size is rounded down"
        )]
        Target::Ratio(ratios) => inner.iter().zip(ratios).map(|(&size, ratio)| (size as f64 * ratio) as i64).collect(),
    };
    Ok((Tensor::rand((items, channels, N), (x.dtype(), x.device()))?, output_size))
}
