//! The partial inverse of maximum pooling.

use aten::IntList;
use aten::prelude::*;
use dispatch_runtime::{BadArgument, Expected, IntoSizes, Result, Tensor};

use super::super::per_dimension::{per_dimension, per_dimension_or};

/// The options of [`MaxUnpool1d`], [`MaxUnpool2d`] and [`MaxUnpool3d`]. A list with one number counts for all dimensions.
///
/// ```
/// assert!(dispatch_nn::MaxUnpoolOptions::default().stride.is_empty());
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MaxUnpoolOptions {
    /// The distances between windows. The default is the size of a window.
    pub stride: IntList,
    /// The padding of the pooling. The default is 0.
    pub padding: IntList,
}

/// The windows of the pooling that is inverted.
#[derive(Clone, Copy, Debug)]
struct PooledWindows<const N: usize> {
    kernel_size: [i64; N],
    stride: [i64; N],
    padding: [i64; N],
}

macro_rules! define_unpools {
    ($($(#[$doc:meta])* $name:ident $rank:literal $unpool:path;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, crate::Module)]
        pub struct $name {
            #[module(skip)]
            windows: PooledWindows<$rank>,
        }

        impl $name {
            /// Creates the inverse of a pooling whose windows do not overlap.
            ///
            /// # Errors
            ///
            /// Returns [`BadArgument`] for a size below 1.
            pub fn new(kernel_size: impl IntoSizes) -> Result<Self> {
                Self::with(kernel_size, MaxUnpoolOptions::default())
            }

            /// Creates a layer with options.
            ///
            /// # Errors
            ///
            /// Returns [`BadArgument`] for numbers out of range.
            pub fn with(kernel_size: impl IntoSizes, options: MaxUnpoolOptions) -> Result<Self> {
                Ok(Self { windows: PooledWindows::new(&kernel_size.into_sizes(), &options)? })
            }

            /// Writes each element at its index, as the layer of maximum pooling returned it. All others are 0.
            ///
            /// # Errors
            ///
            /// Returns an error if sizes differ, or if an index is out of range.
            pub fn forward(&self, x: &Tensor, indices: &Tensor) -> Result<Tensor> {
                $unpool(x, indices, self.windows.default_output_size(x.sizes())?, &self.windows)
            }

            /// Does the same with an output of the given sizes, without items and channels. Several sizes have the same pooled size.
            ///
            /// # Errors
            ///
            /// Returns an error if sizes differ, or if an index is out of range.
            pub fn forward_with_output_size(
                &self,
                x: &Tensor,
                indices: &Tensor,
                output_size: impl IntoSizes,
            ) -> Result<Tensor> {
                let output_size = per_dimension("output_size", &output_size.into_sizes(), 0)?;
                self.windows.check_output_size(x.sizes(), output_size)?;
                $unpool(x, indices, output_size, &self.windows)
            }
        }
    )*};
}

define_unpools! {
    /// The partial inverse of [`MaxPool1d`](crate::MaxPool1d).
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{MaxPool1d, MaxUnpool1d};
    /// use dispatch_runtime::Tensor;
    ///
    /// let (maxima, indices) = MaxPool1d::new(2)?.forward_with_indices(&Tensor::from([[1.0, 2.0, 4.0, 3.0]]))?;
    /// assert_eq!(MaxUnpool1d::new(2)?.forward(&maxima, &indices)?.to_vec::<f64>()?, [0.0, 2.0, 4.0, 0.0]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    MaxUnpool1d 1 unpool_sequences;

    /// The partial inverse of [`MaxPool2d`](crate::MaxPool2d).
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{MaxPool2d, MaxUnpool2d};
    /// use dispatch_runtime::Tensor;
    ///
    /// let (maxima, indices) = MaxPool2d::new(2)?.forward_with_indices(&Tensor::rand((1, 5, 5), ())?)?;
    /// // The default output has the sizes 4 and 4, too few for the indices of this image.
    /// assert_eq!(MaxUnpool2d::new(2)?.forward_with_output_size(&maxima, &indices, 5)?.sizes(), [1, 5, 5]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    MaxUnpool2d 2 unpool_images;

    /// The partial inverse of [`MaxPool3d`](crate::MaxPool3d).
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{MaxPool3d, MaxUnpool3d};
    /// use dispatch_runtime::Tensor;
    ///
    /// let (maxima, indices) = MaxPool3d::new(2)?.forward_with_indices(&Tensor::rand((1, 4, 4, 4), ())?)?;
    /// assert_eq!(MaxUnpool3d::new(2)?.forward(&maxima, &indices)?.sizes(), [1, 4, 4, 4]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    MaxUnpool3d 3 unpool_volumes;
}

/// Unpools sequences as images of one column.
fn unpool_sequences(x: &Tensor, indices: &Tensor, [length]: [i64; 1], _: &PooledWindows<1>) -> Result<Tensor> {
    aten::max_unpool2d(&x.unsqueeze(-1)?, &indices.unsqueeze(-1)?, &[length, 1])?.squeeze_dims(-1)
}

fn unpool_images(x: &Tensor, indices: &Tensor, output_size: [i64; 2], _: &PooledWindows<2>) -> Result<Tensor> {
    aten::max_unpool2d(x, indices, &output_size)
}

fn unpool_volumes(x: &Tensor, indices: &Tensor, output_size: [i64; 3], windows: &PooledWindows<3>) -> Result<Tensor> {
    aten::max_unpool3d(x, indices, &output_size, &windows.stride, &windows.padding)
}

impl<const N: usize> PooledWindows<N> {
    fn new(kernel_size: &[i64], options: &MaxUnpoolOptions) -> Result<Self> {
        let kernel_size = per_dimension("kernel_size", kernel_size, 1)?;
        Ok(Self {
            kernel_size,
            stride: per_dimension_or("stride", &options.stride, 1, kernel_size)?,
            padding: per_dimension_or("padding", &options.padding, 0, [0; N])?,
        })
    }

    fn default_output_size(&self, input: &[i64]) -> Result<[i64; N]> {
        let Some(outer @ 1..=2) = input.len().checked_sub(N) else {
            return Err(BadArgument::rank("input", input.len(), N + 1..=N + 2).into());
        };
        let mut sizes = [0; N];
        for (dim, size) in sizes.iter_mut().enumerate() {
            *size = (input[outer + dim] - 1)
                .saturating_mul(self.stride[dim])
                .saturating_sub(self.padding[dim].saturating_mul(2))
                .saturating_add(self.kernel_size[dim]);
        }
        Ok(sizes)
    }

    /// Returns an error if a size differs from the default by a stride or more.
    fn check_output_size(&self, input: &[i64], output: [i64; N]) -> Result<()> {
        let defaults = self.default_output_size(input)?;
        for (dim, default) in defaults.into_iter().enumerate() {
            let beyond = self.stride[dim] - 1;
            let (smallest, largest) = (default.saturating_sub(beyond), default.saturating_add(beyond));
            if !(smallest..=largest).contains(&output[dim]) {
                return Err(BadArgument::size("output_size", &output, dim, Expected::Between(smallest, largest))
                    .because("other sizes have another pooled size")
                    .into());
            }
        }
        Ok(())
    }
}
