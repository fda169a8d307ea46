//! Exponentials, logarithms, roots, and functions of statistics.

use std::borrow::Borrow;

use dispatch_runtime::prelude::*;
use dispatch_runtime::{ArithmeticOperand, IntoInt};

use super::in_place;

/// Exponentials, logarithms, roots, and related functions of elements.
pub trait ExponentialMethods: Borrow<Tensor> {
    /// Returns `e` to the power of each element.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from([0.0, 1.0]).exp()?.allclose(&Tensor::from([1.0, 2.718281828]))?);
    /// # Ok::<(), Error>(())
    /// ```
    fn exp(&self) -> Result<Tensor> {
        crate::exp(self.borrow())
    }

    /// Computes [`exp`](Self::exp) in place.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([0.0, 1.0]);
    /// x.exp_()?;
    /// assert!(x.allclose(&Tensor::from([1.0, 2.718281828]))?);
    /// # Ok::<(), Error>(())
    /// ```
    fn exp_(&self) -> Result<()> {
        in_place!(self, exp_())
    }

    /// Returns 2 to the power of each element.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([0.0, 3.0]).exp2()?.to_vec::<f64>()?, [1.0, 8.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn exp2(&self) -> Result<Tensor> {
        crate::exp2(self.borrow())
    }

    /// Returns `exp(x) - 1`, precise for small elements.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from([0.0, 1.0]).expm1()?.allclose(&Tensor::from([0.0, 1.718281828]))?);
    /// # Ok::<(), Error>(())
    /// ```
    fn expm1(&self) -> Result<Tensor> {
        crate::expm1(self.borrow())
    }

    /// Returns the natural logarithms.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from([1.0, 10.0]).log()?.allclose(&Tensor::from([0.0, 2.302585093]))?);
    /// # Ok::<(), Error>(())
    /// ```
    fn log(&self) -> Result<Tensor> {
        crate::log(self.borrow())
    }

    /// Computes [`log`](Self::log) in place.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([1.0, 10.0]);
    /// x.log_()?;
    /// assert!(x.allclose(&Tensor::from([0.0, 2.302585093]))?);
    /// # Ok::<(), Error>(())
    /// ```
    fn log_(&self) -> Result<()> {
        in_place!(self, log_())
    }

    /// Returns the logarithms to base 2.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.0, 8.0]).log2()?.to_vec::<f64>()?, [0.0, 3.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn log2(&self) -> Result<Tensor> {
        crate::log2(self.borrow())
    }

    /// Returns the logarithms to base 10.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.0, 100.0]).log10()?.to_vec::<f64>()?, [0.0, 2.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn log10(&self) -> Result<Tensor> {
        crate::log10(self.borrow())
    }

    /// Returns `log(1 + x)`, precise for small elements.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from([0.0, 1.0]).log1p()?.allclose(&Tensor::from([0.0, 0.693147181]))?);
    /// # Ok::<(), Error>(())
    /// ```
    fn log1p(&self) -> Result<Tensor> {
        crate::log1p(self.borrow())
    }

    /// Returns the square roots.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([4.0, 9.0]).sqrt()?.to_vec::<f64>()?, [2.0, 3.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn sqrt(&self) -> Result<Tensor> {
        crate::sqrt(self.borrow())
    }

    /// Computes [`sqrt`](Self::sqrt) in place.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([4.0, 9.0]);
    /// x.sqrt_()?;
    /// assert_eq!(x.to_vec::<f64>()?, [2.0, 3.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn sqrt_(&self) -> Result<()> {
        in_place!(self, sqrt_())
    }

    /// Returns one divided by the square roots.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([4.0, 16.0]).rsqrt()?.to_vec::<f64>()?, [0.5, 0.25]);
    /// # Ok::<(), Error>(())
    /// ```
    fn rsqrt(&self) -> Result<Tensor> {
        crate::rsqrt(self.borrow())
    }

    /// Computes [`rsqrt`](Self::rsqrt) in place.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([4.0, 16.0]);
    /// x.rsqrt_()?;
    /// assert_eq!(x.to_vec::<f64>()?, [0.5, 0.25]);
    /// # Ok::<(), Error>(())
    /// ```
    fn rsqrt_(&self) -> Result<()> {
        in_place!(self, rsqrt_())
    }

    /// Returns `1 / (1 + exp(-x))`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from([0.0, 1.0]).sigmoid()?.allclose(&Tensor::from([0.5, 0.731058579]))?);
    /// # Ok::<(), Error>(())
    /// ```
    fn sigmoid(&self) -> Result<Tensor> {
        crate::sigmoid(self.borrow())
    }

    /// Computes [`sigmoid`](Self::sigmoid) in place.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([0.0, 1.0]);
    /// x.sigmoid_()?;
    /// assert!(x.allclose(&Tensor::from([0.5, 0.731058579]))?);
    /// # Ok::<(), Error>(())
    /// ```
    fn sigmoid_(&self) -> Result<()> {
        in_place!(self, sigmoid_())
    }

    /// Returns the error function.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from([0.0, 1.0]).erf()?.allclose(&Tensor::from([0.0, 0.842700793]))?);
    /// # Ok::<(), Error>(())
    /// ```
    fn erf(&self) -> Result<Tensor> {
        crate::erf(self.borrow())
    }

    /// Returns one minus the error function.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from([0.0, 1.0]).erfc()?.allclose(&Tensor::from([1.0, 0.157299207]))?);
    /// # Ok::<(), Error>(())
    /// ```
    fn erfc(&self) -> Result<Tensor> {
        crate::erfc(self.borrow())
    }

    /// Returns the inverse of the error function.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from([0.0, 0.5]).erfinv()?.allclose(&Tensor::from([0.0, 0.476936276]))?);
    /// # Ok::<(), Error>(())
    /// ```
    fn erfinv(&self) -> Result<Tensor> {
        crate::erfinv(self.borrow())
    }

    /// Returns the logarithms of the absolute values of the gamma function.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from([1.0, 4.0]).lgamma()?.allclose(&Tensor::from([0.0, 1.791759469]))?);
    /// # Ok::<(), Error>(())
    /// ```
    fn lgamma(&self) -> Result<Tensor> {
        crate::lgamma(self.borrow())
    }

    /// Returns the derivatives of the logarithm of the gamma function.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from([1.0, 2.0]).digamma()?.allclose(&Tensor::from([-0.577215665, 0.422784335]))?);
    /// # Ok::<(), Error>(())
    /// ```
    fn digamma(&self) -> Result<Tensor> {
        crate::digamma(self.borrow())
    }

    /// Returns the modified Bessel function of order 0.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from([0.0, 1.0]).i0()?.allclose(&Tensor::from([1.0, 1.266065878]))?);
    /// # Ok::<(), Error>(())
    /// ```
    fn i0(&self) -> Result<Tensor> {
        crate::i0(self.borrow())
    }

    /// Returns `log(x / (1 - x))`, the inverse of the sigmoid.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([0.5]).logit()?.to_vec::<f64>()?, [0.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn logit(&self) -> Result<Tensor> {
        crate::logit(self.borrow(), None)
    }

    /// Returns `log(exp(self) + exp(other))` without overflow.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from([1000.0]).logaddexp(&Tensor::from([1000.0]))?.allclose(&Tensor::from([1000.693147181]))?);
    /// # Ok::<(), Error>(())
    /// ```
    fn logaddexp(&self, other: &Tensor) -> Result<Tensor> {
        crate::logaddexp(self.borrow(), other)
    }

    /// Returns `log2(2^self + 2^other)` without overflow.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.0]).logaddexp2(&Tensor::from([1.0]))?.to_vec::<f64>()?, [2.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn logaddexp2(&self, other: &Tensor) -> Result<Tensor> {
        crate::logaddexp2(self.borrow(), other)
    }

    /// Returns `self * log(other)`, which is 0 if `self` is 0.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([0.0, 2.0]).xlogy(&Tensor::from([0.0, 1.0]))?.to_vec::<f64>()?, [0.0, 0.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn xlogy(&self, other: impl ArithmeticOperand) -> Result<Tensor> {
        other.call_with_tensor(|other| crate::xlogy(self.borrow(), other))
    }

    /// Returns the derivatives of order `n` of the digamma function.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from([1.0]).polygamma(1)?.allclose(&Tensor::from([1.644934067]))?);
    /// # Ok::<(), Error>(())
    /// ```
    fn polygamma(&self, n: impl IntoInt) -> Result<Tensor> {
        crate::polygamma(n.into_int(), self.borrow())
    }

    /// Returns the logarithms of the multivariate gamma function of dimension `p`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.0]).mvlgamma(1)?.to_vec::<f64>()?, [0.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn mvlgamma(&self, p: impl IntoInt) -> Result<Tensor> {
        crate::mvlgamma(self.borrow(), p.into_int())
    }

    /// Multiplies each element by 2 to the power of `exponent`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.0, 3.0]).ldexp(&Tensor::from([2, 1]))?.to_vec::<f64>()?, [4.0, 6.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn ldexp(&self, exponent: &Tensor) -> Result<Tensor> {
        crate::ldexp(self.borrow(), exponent)
    }

    /// Splits each element into a fraction and a power of two. Returns the fractions and the exponents.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let (fraction, exponent) = Tensor::from([8.0, 3.0]).frexp()?;
    /// assert_eq!(fraction.to_vec::<f64>()?, [0.5, 0.75]);
    /// assert_eq!(exponent.to_vec::<i32>()?, [4, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    fn frexp(&self) -> Result<(Tensor, Tensor)> {
        crate::frexp(self.borrow())
    }
}

impl ExponentialMethods for Tensor {}
