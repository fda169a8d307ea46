//! Borders around sequences, images and volumes.

use aten::prelude::*;
use aten::{IntList, PadMode};
use dispatch_runtime::{BadArgument, IntoSizes, Result, Tensor};

use crate::forward::Forward;
use crate::summary::observe;

macro_rules! define_paddings {
    ($($(#[$doc:meta])* $name:ident $rank:literal $mode:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, crate::Module)]
        pub struct $name {
            #[module(skip)]
            padding: IntList,
        }

        impl $name {
            #[doc = concat!("Creates the layer. `padding` is one number, or ", stringify!($rank), " pairs of numbers for the start and the end")]
            /// of each dimension, the last dimension first.
            ///
            /// # Errors
            ///
            /// Returns [`BadArgument`] for a list of another length.
            pub fn new(padding: impl IntoSizes) -> Result<Self> {
                Ok(Self { padding: border(&padding.into_sizes(), $rank)? })
            }
        }

        impl Forward for $name {
            type Output = Tensor;

            fn forward(&self, x: &Tensor) -> Result<Tensor> {
                observe(self, x.pad_with(self.padding.as_slice(), $mode))
            }
        }
    )*};
}

define_paddings! {
    /// Surrounds sequences with their mirror image. The outermost element is not repeated.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{Forward, ReflectionPad1d};
    /// use dispatch_runtime::Tensor;
    /// assert_eq!(ReflectionPad1d::new(1)?.forward(&Tensor::from([[1.0, 2.0]]))?.to_vec::<f64>()?, [2.0, 1.0, 2.0, 1.0]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    ReflectionPad1d 1 PadMode::Reflect;

    /// Surrounds images with their mirror image. The outermost element is not repeated.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{Forward, ReflectionPad2d};
    /// use dispatch_runtime::Tensor;
    /// assert_eq!(ReflectionPad2d::new((1, 2, 0, 1))?.forward(&Tensor::zeros((1, 4, 4), ())?)?.sizes(), [1, 5, 7]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    ReflectionPad2d 2 PadMode::Reflect;

    /// Surrounds volumes with their mirror image. The outermost element is not repeated.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{Forward, ReflectionPad3d};
    /// use dispatch_runtime::Tensor;
    /// assert_eq!(ReflectionPad3d::new(1)?.forward(&Tensor::zeros((1, 4, 4, 4), ())?)?.sizes(), [1, 6, 6, 6]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    ReflectionPad3d 3 PadMode::Reflect;

    /// Surrounds sequences with their outermost elements.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{Forward, ReplicationPad1d};
    /// use dispatch_runtime::Tensor;
    /// assert_eq!(ReplicationPad1d::new(1)?.forward(&Tensor::from([[1.0, 2.0]]))?.to_vec::<f64>()?, [1.0, 1.0, 2.0, 2.0]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    ReplicationPad1d 1 PadMode::Replicate;

    /// Surrounds images with their outermost elements.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{Forward, ReplicationPad2d};
    /// use dispatch_runtime::Tensor;
    /// assert_eq!(ReplicationPad2d::new(1)?.forward(&Tensor::zeros((1, 4, 4), ())?)?.sizes(), [1, 6, 6]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    ReplicationPad2d 2 PadMode::Replicate;

    /// Surrounds volumes with their outermost elements.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{Forward, ReplicationPad3d};
    /// use dispatch_runtime::Tensor;
    /// assert_eq!(ReplicationPad3d::new(1)?.forward(&Tensor::zeros((1, 4, 4, 4), ())?)?.sizes(), [1, 6, 6, 6]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    ReplicationPad3d 3 PadMode::Replicate;

    /// Surrounds sequences with elements of the opposite end.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{CircularPad1d, Forward};
    /// use dispatch_runtime::Tensor;
    /// assert_eq!(CircularPad1d::new(1)?.forward(&Tensor::from([[1.0, 2.0]]))?.to_vec::<f64>()?, [2.0, 1.0, 2.0, 1.0]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    CircularPad1d 1 PadMode::Circular;

    /// Surrounds images with elements of the opposite side.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{CircularPad2d, Forward};
    /// use dispatch_runtime::Tensor;
    /// assert_eq!(CircularPad2d::new(1)?.forward(&Tensor::zeros((1, 4, 4), ())?)?.sizes(), [1, 6, 6]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    CircularPad2d 2 PadMode::Circular;

    /// Surrounds volumes with elements of the opposite side.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{CircularPad3d, Forward};
    /// use dispatch_runtime::Tensor;
    /// assert_eq!(CircularPad3d::new(1)?.forward(&Tensor::zeros((1, 4, 4, 4), ())?)?.sizes(), [1, 6, 6, 6]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    CircularPad3d 3 PadMode::Circular;

    /// Surrounds sequences with zeros.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{Forward, ZeroPad1d};
    /// use dispatch_runtime::Tensor;
    /// assert_eq!(ZeroPad1d::new((1, 0))?.forward(&Tensor::from([[1.0, 2.0]]))?.to_vec::<f64>()?, [0.0, 1.0, 2.0]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    ZeroPad1d 1 PadMode::Constant;

    /// Surrounds images with zeros.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{Forward, ZeroPad2d};
    /// use dispatch_runtime::Tensor;
    /// assert_eq!(ZeroPad2d::new(1)?.forward(&Tensor::zeros((1, 4, 4), ())?)?.sizes(), [1, 6, 6]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    ZeroPad2d 2 PadMode::Constant;

    /// Surrounds volumes with zeros.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{Forward, ZeroPad3d};
    /// use dispatch_runtime::Tensor;
    /// assert_eq!(ZeroPad3d::new(1)?.forward(&Tensor::zeros((1, 4, 4, 4), ())?)?.sizes(), [1, 6, 6, 6]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    ZeroPad3d 3 PadMode::Constant;
}

macro_rules! define_constant_paddings {
    ($($(#[$doc:meta])* $name:ident $rank:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, crate::Module)]
        pub struct $name {
            #[module(skip)]
            padding: IntList,
            value: f64,
        }

        impl $name {
            #[doc = concat!("Creates the layer. `padding` is one number, or ", stringify!($rank), " pairs of numbers for the start and the end")]
            /// of each dimension, the last dimension first.
            ///
            /// # Errors
            ///
            /// Returns [`BadArgument`] for a list of another length.
            pub fn new(padding: impl IntoSizes, value: f64) -> Result<Self> {
                Ok(Self { padding: border(&padding.into_sizes(), $rank)?, value })
            }
        }

        impl Forward for $name {
            type Output = Tensor;

            fn forward(&self, x: &Tensor) -> Result<Tensor> {
                observe(self, x.pad(self.padding.as_slice(), self.value))
            }
        }
    )*};
}

define_constant_paddings! {
    /// Surrounds sequences with a value.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{ConstantPad1d, Forward};
    /// use dispatch_runtime::Tensor;
    /// assert_eq!(ConstantPad1d::new((0, 1), 7.0)?.forward(&Tensor::from([[1.0, 2.0]]))?.to_vec::<f64>()?, [1.0, 2.0, 7.0]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    ConstantPad1d 1;

    /// Surrounds images with a value.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{ConstantPad2d, Forward};
    /// use dispatch_runtime::Tensor;
    /// assert_eq!(ConstantPad2d::new(1, 7.0)?.forward(&Tensor::zeros((1, 4, 4), ())?)?.sizes(), [1, 6, 6]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    ConstantPad2d 2;

    /// Surrounds volumes with a value.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{ConstantPad3d, Forward};
    /// use dispatch_runtime::Tensor;
    /// assert_eq!(ConstantPad3d::new(1, 7.0)?.forward(&Tensor::zeros((1, 4, 4, 4), ())?)?.sizes(), [1, 6, 6, 6]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    ConstantPad3d 3;
}

/// Returns two numbers for each dimension. One number counts for all.
fn border(padding: &[i64], rank: usize) -> Result<IntList> {
    match *padding {
        [one] => Ok(vec![one; rank * 2].into()),
        _ if padding.len() == rank * 2 => Ok(padding.into()),
        _ => Err(BadArgument::length("padding", padding.len(), rank * 2)
            .because("each dimension has a start and an end")
            .into()),
    }
}
