//! Random numbers: in place of the elements, or samples of distributions.

use std::borrow::Borrow;

use dispatch_runtime::IntoInt;
use dispatch_runtime::prelude::*;

use super::in_place;

/// Random numbers of the thread's default generator, which `manual_seed` resets.
pub trait RandomMethods: Borrow<Tensor> {
    /// Writes random numbers, uniform in the range.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::zeros(2, ())?;
    /// x.uniform_(1.0..2.0)?;
    /// assert!(x.min()?.item::<f32>()? >= 1.0);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "random")]
    fn uniform_(&self, range: std::ops::Range<f64>) -> Result<()> {
        in_place!(self, uniform_(range.start, range.end, None))
    }

    /// Writes random numbers of a normal distribution.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::zeros(2, ())?;
    /// x.normal_(3.0, 0.0)?;
    /// assert_eq!(x.to_vec::<f32>()?, [3.0, 3.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "random")]
    fn normal_(&self, mean: f64, std: f64) -> Result<()> {
        in_place!(self, normal_(mean, std, None))
    }

    /// Writes 1 with probability `p`, else 0.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::zeros(2, ())?;
    /// x.bernoulli_(1.0)?;
    /// assert_eq!(x.to_vec::<f32>()?, [1.0, 1.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "random")]
    fn bernoulli_(&self, p: f64) -> Result<()> {
        in_place!(self, bernoulli__float(p, None))
    }

    /// Writes random numbers of an exponential distribution.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::zeros(2, ())?;
    /// x.exponential_(1.0)?;
    /// assert!(x.min()?.item::<f32>()? > 0.0);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "random")]
    fn exponential_(&self, lambda: f64) -> Result<()> {
        in_place!(self, exponential_(lambda, None))
    }

    /// Writes random integers, uniform in the range.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::zeros(2, ())?;
    /// x.random_(7..8)?;
    /// assert_eq!(x.to_vec::<f32>()?, [7.0, 7.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "random")]
    fn random_(&self, range: std::ops::Range<i64>) -> Result<()> {
        in_place!(self, random__from(range.start, Some(range.end), None))
    }

    /// Writes random numbers of a geometric distribution.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::zeros(2, ())?;
    /// x.geometric_(0.5)?;
    /// assert!(x.min()?.item::<f32>()? >= 1.0);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "random")]
    fn geometric_(&self, p: f64) -> Result<()> {
        in_place!(self, geometric_(p, None))
    }

    /// Writes random numbers of a Cauchy distribution.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::zeros(2, ())?;
    /// x.cauchy_(0.0, 1.0)?;
    /// assert!(x.isfinite()?.all()?.item::<bool>()?);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "random")]
    fn cauchy_(&self, median: f64, sigma: f64) -> Result<()> {
        in_place!(self, cauchy_(median, sigma, None))
    }

    /// Writes random numbers whose logarithms are normally distributed.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::zeros(2, ())?;
    /// x.log_normal_(0.0, 1.0)?;
    /// assert!(x.min()?.item::<f32>()? > 0.0);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "random")]
    fn log_normal_(&self, mean: f64, std: f64) -> Result<()> {
        in_place!(self, log_normal_(mean, std, None))
    }

    /// Returns 1 with the probability in each element, else 0.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([0.0, 1.0]).bernoulli()?.to_vec::<f64>()?, [0.0, 1.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "random")]
    fn bernoulli(&self) -> Result<Tensor> {
        crate::bernoulli(self.borrow(), None)
    }

    /// Returns random numbers of Poisson distributions with the rates in the elements. PyTorch: `torch.poisson`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([0.0]).poisson()?.to_vec::<f64>()?, [0.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "random")]
    fn poisson(&self) -> Result<Tensor> {
        crate::poisson(self.borrow(), None)
    }

    /// Returns random indices. The elements are the weights of their indices.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([0.0, 1.0]).multinomial(1, false)?.to_vec::<i64>()?, [1]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "random")]
    fn multinomial(&self, samples: impl IntoInt, replacement: bool) -> Result<Tensor> {
        crate::multinomial(self.borrow(), samples.into_int(), replacement, None)
    }

    /// Returns random numbers, uniform in `[0, 1)`, with the sizes, dtype and device of the tensor. PyTorch: `torch.rand_like`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::zeros((2, 3), ())?.rand_like()?.sizes(), [2, 3]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "random")]
    fn rand_like(&self) -> Result<Tensor> {
        crate::rand_like(self.borrow(), None, None, None, None, None)
    }

    /// Returns random numbers of the standard normal distribution, with the sizes, dtype and device of the tensor. PyTorch: `torch.randn_like`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::zeros((2, 3), ())?.randn_like()?.sizes(), [2, 3]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "random")]
    fn randn_like(&self) -> Result<Tensor> {
        crate::randn_like(self.borrow(), None, None, None, None, None)
    }

    /// Returns random integers, uniform in the range, with the sizes, dtype and device of the tensor. PyTorch: `torch.randint_like`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::zeros(2, ())?.randint_like(7..8)?.to_vec::<f32>()?, [7.0, 7.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "random")]
    fn randint_like(&self, range: std::ops::Range<i64>) -> Result<Tensor> {
        crate::randint_like_low_dtype(self.borrow(), range.start, range.end, None, None, None, None, None)
    }
}

impl RandomMethods for Tensor {}
