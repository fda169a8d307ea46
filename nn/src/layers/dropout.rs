//! Dropout: random zeros while training.

use dispatch_runtime::{Result, Tensor};

use super::checks::check_probability;
use crate::forward::Forward;
use crate::param::Training;
use crate::summary::observe;

macro_rules! define_dropouts {
    ($($(#[$doc:meta])* $name:ident $dropout:path;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, crate::Module)]
        pub struct $name {
            p: f64,
            training: Training,
        }

        impl $name {
            /// Creates the layer.
            ///
            /// # Errors
            ///
            /// Returns [`BadArgument`](dispatch_runtime::BadArgument) if `p` is not between 0 and 1.
            pub fn new(p: f64) -> Result<Self> {
                check_probability("p", p)?;
                Ok(Self { p, training: Training::ON })
            }
        }

        impl Forward for $name {
            type Output = Tensor;

            fn forward(&self, x: &Tensor) -> Result<Tensor> {
                observe(self, $dropout(x, self.p, self.training.is_on()))
            }
        }
    )*};
}

define_dropouts! {
    /// Sets elements to zero with the probability `p` while training, and divides the others by `1 - p`.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{Dropout, Forward, Module};
    /// use dispatch_runtime::Tensor;
    ///
    /// let mut dropout = Dropout::new(0.5)?;
    /// dropout.eval();
    /// assert_eq!(dropout.forward(&Tensor::from([1.0, 2.0]))?.to_vec::<f64>()?, [1.0, 2.0]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    Dropout aten::dropout;

    /// Sets channels of sequences to zero with the probability `p` while training, and divides the others by `1 - p`. The input is
    /// `[items, channels, length]` or `[channels, length]`.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{Dropout1d, Forward};
    /// use dispatch_runtime::Tensor;
    ///
    /// assert_eq!(Dropout1d::new(1.0)?.forward(&Tensor::from([[1.0, 2.0]]))?.to_vec::<f64>()?, [0.0, 0.0]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    Dropout1d aten::functional::dropout1d;

    /// Sets channels of images to zero with the probability `p` while training, and divides the others by `1 - p`. The input is
    /// `[items, channels, height, width]`.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{Dropout2d, Forward};
    /// use dispatch_runtime::Tensor;
    ///
    /// let y = Dropout2d::new(0.5)?.forward(&Tensor::ones((1, 1, 2, 2), ())?)?.to_vec::<f32>()?;
    /// assert!(y == [0.0; 4] || y == [2.0; 4]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    Dropout2d aten::functional::dropout2d;

    /// Sets channels of volumes to zero with the probability `p` while training, and divides the others by `1 - p`. The input is
    /// `[items, channels, depth, height, width]` or `[channels, depth, height, width]`.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{Dropout3d, Forward};
    /// use dispatch_runtime::Tensor;
    ///
    /// let y = Dropout3d::new(0.5)?.forward(&Tensor::ones((1, 1, 2, 2), ())?)?.to_vec::<f32>()?;
    /// assert!(y == [0.0; 4] || y == [2.0; 4]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    Dropout3d aten::functional::dropout3d;

    /// Sets elements to the lower limit of [`SELU`](crate::SELU) with the probability `p` while training, and keeps mean and variance.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{AlphaDropout, Forward, Module};
    /// use dispatch_runtime::Tensor;
    ///
    /// let mut dropout = AlphaDropout::new(0.5)?;
    /// dropout.eval();
    /// assert_eq!(dropout.forward(&Tensor::from([1.0, 2.0]))?.to_vec::<f64>()?, [1.0, 2.0]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    AlphaDropout aten::alpha_dropout;

    /// Sets whole channels to the lower limit of [`SELU`](crate::SELU) with the probability `p` while training, and keeps mean and
    /// variance.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{FeatureAlphaDropout, Forward, Module};
    /// use dispatch_runtime::Tensor;
    ///
    /// let mut dropout = FeatureAlphaDropout::new(0.5)?;
    /// dropout.eval();
    /// assert_eq!(dropout.forward(&Tensor::from([[1.0, 2.0]]))?.to_vec::<f64>()?, [1.0, 2.0]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    FeatureAlphaDropout aten::feature_alpha_dropout;
}
