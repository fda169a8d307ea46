//! Activation functions.

use aten::GeluApproximation;
use aten::prelude::*;
use dispatch_runtime::{BadArgument, Expected, IntoInt, Result, Tensor};

use super::define_layers::{define_layers, impl_forward};
use crate::forward::Forward;
use crate::param::{Param, Training};
use crate::summary::observe;

/// Defines activations without options.
macro_rules! define_activations {
    ($($(#[$doc:meta])* $name:ident($x:ident) => $result:expr, $example:literal;)*) => {$(
        $(#[$doc])*
        ///
        /// ```
        /// # use kernels_cpu as _;
        /// # use aten::prelude::*;
        /// # use dispatch_nn::{self as nn, Forward};
        /// # use dispatch_runtime::Tensor;
        #[doc = $example]
        /// # Ok::<(), dispatch_runtime::Error>(())
        /// ```
        #[derive(Clone, Copy, Debug, Default, crate::Module)]
        pub struct $name;

        impl Forward for $name {
            type Output = Tensor;

            fn forward(&self, $x: &Tensor) -> Result<Tensor> {
                observe(self, $result)
            }
        }
    )*};
}

define_activations! {
    /// `max(x, 0)`.
    ReLU(x) => x.relu(), "assert_eq!(nn::ReLU.forward(&Tensor::from([-1.0, 2.0]))?.to_vec::<f64>()?, [0.0, 2.0]);";
    /// `min(max(x, 0), 6)`.
    ReLU6(x) => x.relu6(), "assert_eq!(nn::ReLU6.forward(&Tensor::from([-1.0, 8.0]))?.to_vec::<f64>()?, [0.0, 6.0]);";
    /// The self-normalising [`ELU`]: `1.0507 * max(x, 1.6733 * (exp(x) - 1))`, with more digits.
    SELU(x) => x.selu(), "assert!(nn::SELU.forward(&Tensor::from([1.0]))?.allclose(&Tensor::from([1.050700987]))?);";
    /// `x * sigmoid(x)`.
    SiLU(x) => x.silu(), "assert!(nn::SiLU.forward(&Tensor::from([1.0]))?.allclose(&Tensor::from([0.731058579]))?);";
    /// `x * tanh(softplus(x))`.
    Mish(x) => x.mish(), "assert!(nn::Mish.forward(&Tensor::from([1.0]))?.allclose(&Tensor::from([0.865098388]))?);";
    /// `1 / (1 + exp(-x))`.
    Sigmoid(x) => x.sigmoid(), "assert_eq!(nn::Sigmoid.forward(&Tensor::from([0.0]))?.to_vec::<f64>()?, [0.5]);";
    /// The logarithm of [`Sigmoid`].
    LogSigmoid(x) => x.log_sigmoid(),
        "assert!(nn::LogSigmoid.forward(&Tensor::from([0.0]))?.allclose(&Tensor::from([-0.693147181]))?);";
    /// The hyperbolic tangent.
    Tanh(x) => x.tanh(), "assert_eq!(nn::Tanh.forward(&Tensor::from([0.0]))?.to_vec::<f64>()?, [0.0]);";
    /// `x - tanh(x)`.
    Tanhshrink(x) => aten::functional::tanhshrink(x),
        "assert!(nn::Tanhshrink.forward(&Tensor::from([1.0]))?.allclose(&Tensor::from([0.238405844]))?);";
    /// `x / (1 + |x|)`.
    Softsign(x) => aten::functional::softsign(x),
        "assert_eq!(nn::Softsign.forward(&Tensor::from([1.0, -3.0]))?.to_vec::<f64>()?, [0.5, -0.75]);";
    /// `min(max(x + 3, 0), 6) / 6`.
    Hardsigmoid(x) => x.hardsigmoid(),
        "assert_eq!(nn::Hardsigmoid.forward(&Tensor::from([0.0, 3.0]))?.to_vec::<f64>()?, [0.5, 1.0]);";
    /// `x` times [`Hardsigmoid`].
    Hardswish(x) => x.hardswish(),
        "assert_eq!(nn::Hardswish.forward(&Tensor::from([-3.0, 3.0]))?.to_vec::<f64>()?, [0.0, 3.0]);";
    /// Exponentials, divided by their sum over the channels of each pixel. The input is `[items, channels, height, width]` or `[channels,
    /// height, width]`.
    Softmax2d(x) => softmax_of_channels(x),
        "assert_eq!(nn::Softmax2d.forward(&Tensor::zeros((2, 1, 1), ())?)?.to_vec::<f32>()?, [0.5, 0.5]);";
}

fn softmax_of_channels(x: &Tensor) -> Result<Tensor> {
    match x.sizes().len() {
        3 | 4 => x.softmax(-3),
        rank => Err(BadArgument::rank("input", rank, &[3, 4]).into()),
    }
}

define_layers! {
    /// `x` for positive elements, and `negative_slope * x` for others.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{Forward, LeakyReLU};
    /// use dispatch_runtime::Tensor;
    ///
    /// let x = Tensor::from([-1.0, 2.0]);
    /// assert_eq!(LeakyReLU::new().forward(&x)?.to_vec::<f64>()?, [-0.01, 2.0]);
    /// assert_eq!(LeakyReLU { negative_slope: 0.5 }.forward(&x)?.to_vec::<f64>()?, [-0.5, 2.0]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    LeakyReLU {
        /// The factor of negative elements. The default is 0.01.
        negative_slope: f64 = 0.01,
    }

    /// `x` for positive elements, and `slope * x` for others. The slope of each element is random between two bounds while training, and
    /// their mean in evaluation.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{Forward, Module, RReLU};
    /// use dispatch_runtime::Tensor;
    ///
    /// let mut layer = RReLU { lower: 0.25, upper: 0.75, ..RReLU::new() };
    /// layer.eval();
    /// assert_eq!(layer.forward(&Tensor::from([-1.0, 2.0]))?.to_vec::<f64>()?, [-0.5, 2.0]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    RReLU {
        /// The smallest slope. The default is 1/8.
        lower: f64 = 1.0 / 8.0,
        /// The largest slope. The default is 1/3.
        upper: f64 = 1.0 / 3.0,
        /// Whether slopes are random.
        training: Training = Training::ON,
    }

    /// `x` for positive elements, and `alpha * (exp(x) - 1)` for others.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{ELU, Forward};
    /// use dispatch_runtime::Tensor;
    /// assert!(ELU::new().forward(&Tensor::from([-1.0]))?.allclose(&Tensor::from([-0.632120559]))?);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    ELU {
        /// The factor of negative elements. The default is 1.
        alpha: f64 = 1.0,
    }

    /// `x` for positive elements, and `alpha * (exp(x / alpha) - 1)` for others.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{CELU, Forward};
    /// use dispatch_runtime::Tensor;
    /// assert!(CELU::new().forward(&Tensor::from([-1.0]))?.allclose(&Tensor::from([-0.632120559]))?);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    CELU {
        /// The scale of negative elements. The default is 1.
        alpha: f64 = 1.0,
    }

    /// `x` times the probability that a standard normal variable is smaller.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{Forward, GELU, GeluApproximation};
    /// use dispatch_runtime::Tensor;
    ///
    /// let x = Tensor::from([1.0]);
    /// assert!(GELU::new().forward(&x)?.allclose(&Tensor::from([0.841344746]))?);
    /// assert!(GELU { approximate: GeluApproximation::Tanh }.forward(&x)?.allclose(&Tensor::from([0.841191991]))?);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    GELU {
        /// The computation. The default is exact.
        #[module(skip)]
        approximate: GeluApproximation = GeluApproximation::None,
    }

    /// `log(1 + exp(beta * x)) / beta`.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{Forward, Softplus};
    /// use dispatch_runtime::Tensor;
    /// assert!(Softplus::new().forward(&Tensor::from([0.0]))?.allclose(&Tensor::from([0.693147181]))?);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    Softplus {
        /// The factor of the exponent. The default is 1.
        beta: f64 = 1.0,
        /// The result is `x` if `beta * x` is larger. The default is 20.
        threshold: f64 = 20.0,
    }

    /// Moves elements towards 0 by `lambd`, at most to 0.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{Forward, Softshrink};
    /// use dispatch_runtime::Tensor;
    /// assert_eq!(Softshrink::new().forward(&Tensor::from([0.4, 2.0]))?.to_vec::<f64>()?, [0.0, 1.5]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    Softshrink {
        /// The distance. The default is 0.5.
        lambd: f64 = 0.5,
    }

    /// Replaces elements from `-lambd` to `lambd` by 0.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{Forward, Hardshrink};
    /// use dispatch_runtime::Tensor;
    /// assert_eq!(Hardshrink::new().forward(&Tensor::from([0.4, 2.0]))?.to_vec::<f64>()?, [0.0, 2.0]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    Hardshrink {
        /// The largest absolute value that becomes 0. The default is 0.5.
        lambd: f64 = 0.5,
    }

    /// Limits elements to a range.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{Forward, Hardtanh};
    /// use dispatch_runtime::Tensor;
    /// assert_eq!(Hardtanh::new().forward(&Tensor::from([-3.0, 0.5]))?.to_vec::<f64>()?, [-1.0, 0.5]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    Hardtanh {
        /// The smallest result. The default is -1.
        min_val: f64 = -1.0,
        /// The largest result. The default is 1.
        max_val: f64 = 1.0,
    }

    /// Multiplies the first half of a dimension by the sigmoid of the second.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{Forward, GLU};
    /// use dispatch_runtime::Tensor;
    /// assert_eq!(GLU::new().forward(&Tensor::from([2.0, 0.0]))?.to_vec::<f64>()?, [1.0]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    GLU {
        /// The dimension. The default is the last.
        dim: i64 = -1,
    }
}

impl_forward! {
    LeakyReLU(layer, x) => x.leaky_relu(layer.negative_slope);
    RReLU(layer, x) => aten::rrelu(x, layer.lower.into(), layer.upper.into(), layer.training.is_on(), None);
    ELU(layer, x) => x.elu(layer.alpha);
    CELU(layer, x) => x.celu(layer.alpha);
    GELU(layer, x) => x.gelu_with(layer.approximate);
    Softplus(layer, x) => aten::softplus(x, layer.beta.into(), layer.threshold.into());
    Softshrink(layer, x) => x.softshrink(layer.lambd);
    Hardshrink(layer, x) => x.hardshrink(layer.lambd);
    Hardtanh(layer, x) => {
        if layer.min_val > layer.max_val {
            let limit = Expected::AtMost(layer.max_val.into());
            return Err(BadArgument::number("min_val", layer.min_val, limit).like("max_val").into());
        }
        aten::hardtanh(x, layer.min_val.into(), layer.max_val.into())
    };
    GLU(layer, x) => x.glu(layer.dim);
}

/// Replaces elements that are not above a threshold.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_nn::{Forward, Threshold};
/// use dispatch_runtime::Tensor;
/// assert_eq!(Threshold::new(2.0, 9.0).forward(&Tensor::from([1.0, 3.0]))?.to_vec::<f64>()?, [9.0, 3.0]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, Debug, crate::Module)]
pub struct Threshold {
    threshold: f64,
    value: f64,
}

impl Threshold {
    /// Creates the layer. Elements up to `threshold` become `value`.
    #[must_use]
    pub const fn new(threshold: f64, value: f64) -> Self {
        Self { threshold, value }
    }
}

macro_rules! define_softmaxes {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, crate::Module)]
        pub struct $name {
            dim: i64,
        }

        impl $name {
            /// Creates the layer for a dimension.
            #[must_use]
            pub fn new(dim: impl IntoInt) -> Self {
                Self { dim: dim.into_int() }
            }
        }
    )*};
}

define_softmaxes! {
    /// Exponentials, divided by their sum over a dimension.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{Forward, Softmax};
    /// use dispatch_runtime::Tensor;
    /// assert_eq!(Softmax::new(-1).forward(&Tensor::from([0.0, 0.0]))?.to_vec::<f64>()?, [0.5, 0.5]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    Softmax;

    /// [`Softmax`] of `-x`.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{Forward, Softmin};
    /// use dispatch_runtime::Tensor;
    /// assert_eq!(Softmin::new(-1).forward(&Tensor::from([0.0, 0.0]))?.to_vec::<f64>()?, [0.5, 0.5]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    Softmin;

    /// The logarithm of [`Softmax`].
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{Forward, LogSoftmax};
    /// use dispatch_runtime::Tensor;
    /// assert!(LogSoftmax::new(-1).forward(&Tensor::from([0.0, 0.0]))?.allclose(&Tensor::from([-0.693147181, -0.693147181]))?);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    LogSoftmax;
}

impl_forward! {
    Threshold(layer, x) => x.threshold(layer.threshold, layer.value);
    Softmax(layer, x) => x.softmax(layer.dim);
    Softmin(layer, x) => aten::functional::softmin(x, layer.dim, None);
    LogSoftmax(layer, x) => x.log_softmax(layer.dim);
    PReLU(layer, x) => x.prelu(&layer.weight);
}

/// The options of [`PReLU`].
///
/// ```
/// assert_eq!(dispatch_nn::PReLUOptions::default().num_parameters, 1);
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PReLUOptions {
    /// The number of slopes: 1, or the number of channels. The default is 1.
    pub num_parameters: i64,
    /// The initial slope. The default is 0.25.
    pub init: f64,
}

impl Default for PReLUOptions {
    fn default() -> Self {
        Self { num_parameters: 1, init: 0.25 }
    }
}

/// `x` for positive elements, and `weight * x` for others, with a slope for all channels or for each.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_nn::{Forward, PReLU};
/// use dispatch_runtime::Tensor;
/// assert_eq!(PReLU::new()?.forward(&Tensor::from([[-1.0_f32, 2.0]]))?.to_vec::<f32>()?, [-0.25, 2.0]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, Debug, crate::Module)]
pub struct PReLU {
    /// The slopes.
    pub weight: Param,
}

impl PReLU {
    /// Creates a layer with one slope, which is 0.25.
    ///
    /// # Errors
    ///
    /// Returns an error if the slope cannot be allocated.
    pub fn new() -> Result<Self> {
        Self::with(PReLUOptions::default())
    }

    /// Creates a layer with options.
    ///
    /// # Errors
    ///
    /// Returns an error if the number of slopes is negative.
    pub fn with(options: PReLUOptions) -> Result<Self> {
        Ok(Self {
            weight: Param::new(Tensor::full(options.num_parameters, options.init, dispatch_runtime::DType::F32)?)?,
        })
    }
}
