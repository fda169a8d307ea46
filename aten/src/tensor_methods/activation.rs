//! Activation functions of neural networks.

use std::borrow::Borrow;

use dispatch_runtime::IntoInt;
use dispatch_runtime::prelude::*;

use super::in_place;
use crate::GeluApproximation;

/// Activation functions of neural networks, and dropout.
pub trait ActivationMethods: Borrow<Tensor> {
    /// Replaces negative elements by 0.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([-1.0, 2.0]).relu()?.to_vec::<f64>()?, [0.0, 2.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn relu(&self) -> Result<Tensor> {
        crate::relu(self.borrow())
    }

    /// Replaces negative elements by 0 in place.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([-1.0, 2.0]);
    /// x.relu_()?;
    /// assert_eq!(x.to_vec::<f64>()?, [0.0, 2.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn relu_(&self) -> Result<()> {
        in_place!(self, relu_())
    }

    /// Limits the elements to the range from 0 to 6.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([-1.0, 8.0]).relu6()?.to_vec::<f64>()?, [0.0, 6.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn relu6(&self) -> Result<Tensor> {
        crate::relu6(self.borrow())
    }

    /// Multiplies negative elements by a slope.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([-1.0, 2.0]).leaky_relu(0.5)?.to_vec::<f64>()?, [-0.5, 2.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn leaky_relu(&self, negative_slope: impl Into<Scalar>) -> Result<Tensor> {
        crate::leaky_relu(self.borrow(), negative_slope.into())
    }

    /// Multiplies negative elements by the weight of their channel.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([[-1.0, 2.0]]).prelu(&Tensor::from([0.5]))?.to_vec::<f64>()?, [-0.5, 2.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn prelu(&self, weight: &Tensor) -> Result<Tensor> {
        crate::prelu(self.borrow(), weight)
    }

    /// Multiplies each element by the probability that a standard normal variable is smaller. Candle: `gelu_erf`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from([0.0, 1.0]).gelu()?.allclose(&Tensor::from([0.0, 0.841344746]))?);
    /// # Ok::<(), Error>(())
    /// ```
    fn gelu(&self) -> Result<Tensor> {
        self.gelu_with(GeluApproximation::default())
    }

    /// Computes `gelu`, exactly or approximately by `tanh`. PyTorch: `F.gelu(approximate=...)`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::GeluApproximation;
    /// assert!(Tensor::from([1.0]).gelu_with(GeluApproximation::Tanh)?.allclose(&Tensor::from([0.841191991]))?);
    /// # Ok::<(), Error>(())
    /// ```
    fn gelu_with(&self, approximation: GeluApproximation) -> Result<Tensor> {
        crate::gelu(self.borrow(), approximation.name())
    }

    /// Returns `x * sigmoid(x)`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from([0.0, 1.0]).silu()?.allclose(&Tensor::from([0.0, 0.731058579]))?);
    /// # Ok::<(), Error>(())
    /// ```
    fn silu(&self) -> Result<Tensor> {
        crate::silu(self.borrow())
    }

    /// Returns `x * tanh(softplus(x))`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from([0.0, 1.0]).mish()?.allclose(&Tensor::from([0.0, 0.865098388]))?);
    /// # Ok::<(), Error>(())
    /// ```
    fn mish(&self) -> Result<Tensor> {
        crate::mish(self.borrow())
    }

    /// Returns `alpha * (exp(x) - 1)` for negative elements.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from([-1.0, 2.0]).elu(1)?.allclose(&Tensor::from([-0.632120559, 2.0]))?);
    /// # Ok::<(), Error>(())
    /// ```
    fn elu(&self, alpha: impl Into<Scalar>) -> Result<Tensor> {
        crate::elu(self.borrow(), alpha.into(), 1.into(), 1.into())
    }

    /// Returns the self-normalising `elu`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from([0.0, 1.0]).selu()?.allclose(&Tensor::from([0.0, 1.050700987]))?);
    /// # Ok::<(), Error>(())
    /// ```
    fn selu(&self) -> Result<Tensor> {
        crate::selu(self.borrow())
    }

    /// Returns `alpha * (exp(x / alpha) - 1)` for negative elements.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from([-1.0, 2.0]).celu(1)?.allclose(&Tensor::from([-0.632120559, 2.0]))?);
    /// # Ok::<(), Error>(())
    /// ```
    fn celu(&self, alpha: impl Into<Scalar>) -> Result<Tensor> {
        crate::celu(self.borrow(), alpha.into())
    }

    /// Limits the elements to the range from -1 to 1.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([-3.0, 0.5]).hardtanh()?.to_vec::<f64>()?, [-1.0, 0.5]);
    /// # Ok::<(), Error>(())
    /// ```
    fn hardtanh(&self) -> Result<Tensor> {
        crate::hardtanh(self.borrow(), (-1).into(), 1.into())
    }

    /// Returns `relu6(x + 3) / 6`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([0.0, 3.0]).hardsigmoid()?.to_vec::<f64>()?, [0.5, 1.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn hardsigmoid(&self) -> Result<Tensor> {
        crate::hardsigmoid(self.borrow())
    }

    /// Returns `x * hardsigmoid(x)`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([0.0, 3.0]).hardswish()?.to_vec::<f64>()?, [0.0, 3.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn hardswish(&self) -> Result<Tensor> {
        crate::hardswish(self.borrow())
    }

    /// Replaces elements between `-lambda` and `lambda` by 0.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([0.4, 2.0]).hardshrink(0.5)?.to_vec::<f64>()?, [0.0, 2.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn hardshrink(&self, lambda: impl Into<Scalar>) -> Result<Tensor> {
        crate::hardshrink(self.borrow(), lambda.into())
    }

    /// Moves elements towards 0 by `lambda`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([0.4, 2.0]).softshrink(0.5)?.to_vec::<f64>()?, [0.0, 1.5]);
    /// # Ok::<(), Error>(())
    /// ```
    fn softshrink(&self, lambda: impl Into<Scalar>) -> Result<Tensor> {
        crate::softshrink(self.borrow(), lambda.into())
    }

    /// Returns `log(1 + exp(x))`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from([0.0]).softplus()?.allclose(&Tensor::from([0.693147181]))?);
    /// # Ok::<(), Error>(())
    /// ```
    fn softplus(&self) -> Result<Tensor> {
        crate::softplus(self.borrow(), 1.into(), 20.into())
    }

    /// Returns exponentials, divided by their sum over a dimension.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([0.0, 0.0]).softmax(-1)?.to_vec::<f64>()?, [0.5, 0.5]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "norm")]
    fn softmax(&self, dim: impl IntoInt) -> Result<Tensor> {
        crate::softmax_int(self.borrow(), dim.into_int(), None)
    }

    /// Returns the logarithms of the softmax.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from([0.0, 0.0]).log_softmax(-1)?.allclose(&Tensor::from([-0.693147181, -0.693147181]))?);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "norm")]
    fn log_softmax(&self, dim: impl IntoInt) -> Result<Tensor> {
        crate::log_softmax_int(self.borrow(), dim.into_int(), None)
    }

    /// Returns the logarithms of the sigmoid. PyTorch: `F.logsigmoid`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from([0.0]).log_sigmoid()?.allclose(&Tensor::from([-0.693147181]))?);
    /// # Ok::<(), Error>(())
    /// ```
    fn log_sigmoid(&self) -> Result<Tensor> {
        crate::log_sigmoid(self.borrow())
    }

    /// Multiplies the first half of a dimension by the sigmoid of the second.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([2.0, 0.0]).glu(0)?.to_vec::<f64>()?, [1.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn glu(&self, dim: impl IntoInt) -> Result<Tensor> {
        crate::glu(self.borrow(), dim.into_int())
    }

    /// Replaces elements that are not above a threshold.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.0, 3.0]).threshold(2, 9)?.to_vec::<f64>()?, [9.0, 3.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn threshold(&self, threshold: impl Into<Scalar>, value: impl Into<Scalar>) -> Result<Tensor> {
        crate::threshold(self.borrow(), threshold.into(), value.into())
    }

    /// Sets elements to 0 with probability `p` while training, and scales the others.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.0, 3.0]).dropout(0.5, false)?.to_vec::<f64>()?, [1.0, 3.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "random")]
    fn dropout(&self, p: f64, training: bool) -> Result<Tensor> {
        crate::dropout(self.borrow(), p, training)
    }
}

impl ActivationMethods for Tensor {}
