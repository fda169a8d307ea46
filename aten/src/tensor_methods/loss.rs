//! Loss functions. PyTorch has them as functions of `torch.nn.functional`.

use std::borrow::Borrow;

use dispatch_runtime::prelude::*;

use crate::Reduction;

/// Loss functions of predictions. The targets are the first argument.
pub trait LossMethods: Borrow<Tensor> {
    /// Returns the squared differences, reduced.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::Reduction;
    /// let loss = Tensor::from([1.0, 3.0]).mse_loss(&Tensor::from([1.0, 1.0]), Reduction::Mean)?;
    /// assert_eq!(loss.item::<f64>()?, 2.0);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "loss")]
    fn mse_loss(&self, target: &Tensor, reduction: Reduction) -> Result<Tensor> {
        crate::mse_loss(self.borrow(), target, reduction.code())
    }

    /// Returns the absolute differences, reduced.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let loss = Tensor::from([1.0, 3.0]).l1_loss(&Tensor::from([1.0, 1.0]), "sum".parse()?)?;
    /// assert_eq!(loss.item::<f64>()?, 2.0);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "loss")]
    fn l1_loss(&self, target: &Tensor, reduction: Reduction) -> Result<Tensor> {
        crate::l1_loss(self.borrow(), target, reduction.code())
    }

    /// Returns squared differences below `beta` and absolute ones above, reduced.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::Reduction;
    /// assert_eq!(Tensor::from([1.0, 3.0]).smooth_l1_loss(&Tensor::from([1.0, 1.0]), 1.0, Reduction::None)?.to_vec::<f64>()?, [0.0, 1.5]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "loss")]
    fn smooth_l1_loss(&self, target: &Tensor, beta: f64, reduction: Reduction) -> Result<Tensor> {
        crate::smooth_l1_loss(self.borrow(), target, reduction.code(), beta)
    }

    /// Returns squared differences below `delta` and scaled absolute ones above, reduced.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::Reduction;
    /// assert_eq!(Tensor::from([1.0, 3.0]).huber_loss(&Tensor::from([1.0, 1.0]), 1.0, Reduction::None)?.to_vec::<f64>()?, [0.0, 1.5]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "loss")]
    fn huber_loss(&self, target: &Tensor, delta: f64, reduction: Reduction) -> Result<Tensor> {
        crate::huber_loss(self.borrow(), target, reduction.code(), delta)
    }

    /// Returns the mean cross entropy of logits and classes.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let loss = Tensor::from([[0.0, 0.0]]).cross_entropy(&Tensor::from([1_i64]))?;
    /// assert!((loss.item::<f64>()? - 0.693147181).abs() < 1e-6);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "loss")]
    fn cross_entropy(&self, target: &Tensor) -> Result<Tensor> {
        self.cross_entropy_with(target, CrossEntropyOptions::default())
    }

    /// Returns the cross entropy of logits and classes, with options.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::{CrossEntropyOptions, Reduction};
    /// let options = CrossEntropyOptions { reduction: Reduction::None, ..CrossEntropyOptions::default() };
    /// assert!(Tensor::from([[0.0, 0.0]]).cross_entropy_with(&Tensor::from([1_i64]), options)?.allclose(&Tensor::from([0.693147181]))?);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "loss")]
    fn cross_entropy_with(&self, target: &Tensor, options: CrossEntropyOptions<'_>) -> Result<Tensor> {
        crate::cross_entropy_loss(
            self.borrow(),
            target,
            options.weight,
            options.reduction.code(),
            options.ignore_index,
            options.label_smoothing,
        )
    }

    /// Returns the negative elements at the classes, reduced.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::NllOptions;
    /// let loss = Tensor::from([[-1.0, -2.0]]).nll_loss(&Tensor::from([1_i64]), NllOptions::default())?;
    /// assert_eq!(loss.item::<f64>()?, 2.0);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "loss")]
    fn nll_loss(&self, target: &Tensor, options: NllOptions<'_>) -> Result<Tensor> {
        crate::nll_loss_nd(self.borrow(), target, options.weight, options.reduction.code(), options.ignore_index)
    }

    /// Returns the cross entropy of probabilities, reduced.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::Reduction;
    /// assert!(Tensor::from([0.5]).binary_cross_entropy(&Tensor::from([1.0]), Reduction::None)?.allclose(&Tensor::from([0.693147181]))?);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "loss")]
    fn binary_cross_entropy(&self, target: &Tensor, reduction: Reduction) -> Result<Tensor> {
        crate::binary_cross_entropy(self.borrow(), target, None, reduction.code())
    }

    /// Returns the cross entropy of logits, reduced.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::Reduction;
    /// assert!(Tensor::from([0.0]).binary_cross_entropy_with_logits(&Tensor::from([1.0]), Reduction::None)?.allclose(&Tensor::from([0.693147181]))?);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "loss")]
    fn binary_cross_entropy_with_logits(&self, target: &Tensor, reduction: Reduction) -> Result<Tensor> {
        crate::binary_cross_entropy_with_logits(self.borrow(), target, None, None, reduction.code())
    }

    /// Returns the Kullback-Leibler divergences of logarithms of probabilities, reduced.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::Reduction;
    /// assert_eq!(Tensor::from([0.0]).kl_div(&Tensor::from([1.0]), Reduction::Sum, false)?.reshape(1)?.to_vec::<f64>()?, [0.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "loss")]
    fn kl_div(&self, target: &Tensor, reduction: Reduction, log_target: bool) -> Result<Tensor> {
        crate::kl_div(self.borrow(), target, reduction.code(), log_target)
    }

    /// Returns `log(1 + exp(-target * x))`, reduced.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::Reduction;
    /// assert!(Tensor::from([0.0]).soft_margin_loss(&Tensor::from([1.0]), Reduction::None)?.allclose(&Tensor::from([0.693147181]))?);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "loss")]
    fn soft_margin_loss(&self, target: &Tensor, reduction: Reduction) -> Result<Tensor> {
        crate::soft_margin_loss(self.borrow(), target, reduction.code())
    }

    /// Returns the distance for target 1, and `max(0, margin - distance)` for target -1, reduced.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::Reduction;
    /// assert_eq!(Tensor::from([0.25, 0.25]).hinge_embedding_loss(&Tensor::from([1.0, -1.0]), 1.0, Reduction::None)?.to_vec::<f64>()?, [0.25, 0.75]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "loss")]
    fn hinge_embedding_loss(&self, target: &Tensor, margin: f64, reduction: Reduction) -> Result<Tensor> {
        crate::hinge_embedding_loss(self.borrow(), target, margin, reduction.code())
    }

    /// Returns the margin losses of several classes, reduced.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::Reduction;
    /// let target = Tensor::from([[0_i64, -1]]);
    /// assert_eq!(Tensor::from([[1.0, 1.0]]).multilabel_margin_loss(&target, Reduction::Sum)?.reshape(1)?.to_vec::<f64>()?, [0.5]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "loss")]
    fn multilabel_margin_loss(&self, target: &Tensor, reduction: Reduction) -> Result<Tensor> {
        crate::multilabel_margin_loss(self.borrow(), target, reduction.code())
    }

    /// Returns the negative log likelihoods of Poisson distributions, whose logarithms of rates are given, reduced.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::Reduction;
    /// assert_eq!(Tensor::from([0.0]).poisson_nll_loss(&Tensor::from([1.0]), Reduction::None)?.to_vec::<f64>()?, [1.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "loss")]
    fn poisson_nll_loss(&self, target: &Tensor, reduction: Reduction) -> Result<Tensor> {
        crate::poisson_nll_loss(self.borrow(), target, true, false, 1e-8, reduction.code())
    }
}

impl LossMethods for Tensor {}

/// The options of [`LossMethods::cross_entropy_with`].
///
/// ```
/// assert_eq!(aten::CrossEntropyOptions::default().ignore_index, -100);
/// ```

#[derive(Clone, Copy, Debug)]
pub struct CrossEntropyOptions<'a> {
    /// The weights of the classes.
    pub weight: Option<&'a Tensor>,
    /// The reduction. The default is the mean.
    pub reduction: Reduction,
    /// The class whose samples are left out. The default is -100.
    pub ignore_index: i64,
    /// The part of the target that is spread over all classes.
    pub label_smoothing: f64,
}

impl Default for CrossEntropyOptions<'_> {
    fn default() -> Self {
        Self { weight: None, reduction: Reduction::Mean, ignore_index: -100, label_smoothing: 0.0 }
    }
}

/// The options of [`LossMethods::nll_loss`].
///
/// ```
/// assert_eq!(aten::NllOptions::default().ignore_index, -100);
/// ```

#[derive(Clone, Copy, Debug)]
pub struct NllOptions<'a> {
    /// The weights of the classes.
    pub weight: Option<&'a Tensor>,
    /// The reduction. The default is the mean.
    pub reduction: Reduction,
    /// The class whose samples are left out. The default is -100.
    pub ignore_index: i64,
}

impl Default for NllOptions<'_> {
    fn default() -> Self {
        Self { weight: None, reduction: Reduction::Mean, ignore_index: -100 }
    }
}
