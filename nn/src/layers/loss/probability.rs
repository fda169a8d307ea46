//! Losses of probability distributions.

use aten::Reduction;
use aten::prelude::*;
use dispatch_runtime::{BadArgument, Result, Tensor};

use super::super::define_layers::define_layers;
use super::impl_loss;

/// The reduction of [`KLDivLoss`].
///
/// ```
/// use dispatch_nn::KLDivReduction;
/// assert_eq!("batchmean".parse(), Ok(KLDivReduction::BatchMean));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum KLDivReduction {
    /// No reduction.
    None,
    /// The mean over all elements. This is the default.
    #[default]
    Mean,
    /// The sum, divided by the size of the first dimension, which is the divergence of the distributions.
    BatchMean,
    /// The sum.
    Sum,
}

impl std::str::FromStr for KLDivReduction {
    type Err = BadArgument;

    fn from_str(word: &str) -> Result<Self, BadArgument> {
        match word {
            "none" => Ok(Self::None),
            "mean" => Ok(Self::Mean),
            "batchmean" => Ok(Self::BatchMean),
            "sum" => Ok(Self::Sum),
            _ => Err(BadArgument::keyword("reduction", word, &["none", "mean", "batchmean", "sum"])),
        }
    }
}

define_layers! {
    /// The Kullback-Leibler divergence of the target's distribution from the input's: `target * (log(target) - input)`. The input has
    /// logarithms of probabilities.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{KLDivLoss, KLDivReduction};
    /// use dispatch_runtime::Tensor;
    ///
    /// let target = Tensor::from([[0.25, 0.75]]);
    /// let loss = KLDivLoss { reduction: KLDivReduction::BatchMean, ..KLDivLoss::new() };
    /// assert!(loss.forward(&target.log()?, &target)?.item::<f64>()?.abs() < 1e-12);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    KLDivLoss {
        /// The reduction. The default is the mean over all elements.
        #[module(skip)]
        reduction: KLDivReduction = KLDivReduction::Mean,
        /// Whether the target has logarithms of probabilities, too. The default is no.
        log_target: bool = false,
    }

    /// The negative log likelihood of a target that has a Poisson distribution. The input has logarithms of rates.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::PoissonNLLLoss;
    /// use dispatch_runtime::Tensor;
    /// assert_eq!(PoissonNLLLoss::new().forward(&Tensor::from([0.0]), &Tensor::from([1.0]))?.item::<f64>()?, 1.0);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    PoissonNLLLoss {
        /// Whether the input has logarithms of rates, which is the default, or rates.
        log_input: bool = true,
        /// Whether the loss has the terms that depend on the target alone, approximately. The default is no.
        full: bool = false,
        /// The number that is added to rates before their logarithm. The default is 1e-8.
        eps: f64 = 1e-8,
        /// The reduction. The default is the mean.
        #[module(skip)]
        reduction: Reduction = Reduction::Mean,
    }

    /// The negative log likelihood of a target that has a normal distribution. The input has means.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::GaussianNLLLoss;
    /// use dispatch_runtime::Tensor;
    ///
    /// let (input, target, var) = (Tensor::from([2.0]), Tensor::from([0.0]), Tensor::from([1.0]));
    /// assert_eq!(GaussianNLLLoss::new().forward(&input, &target, &var)?.item::<f64>()?, 2.0);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    GaussianNLLLoss {
        /// Whether the loss has its constant term. The default is no.
        full: bool = false,
        /// The smallest variance. The default is 1e-6.
        eps: f64 = 1e-6,
        /// The reduction. The default is the mean.
        #[module(skip)]
        reduction: Reduction = Reduction::Mean,
    }
}

impl_loss! {
    KLDivLoss(loss, input, target) => {
        let reduced = |reduction| input.kl_div(target, reduction, loss.log_target);
        match loss.reduction {
            KLDivReduction::None => reduced(Reduction::None),
            KLDivReduction::Mean => reduced(Reduction::Mean),
            KLDivReduction::Sum => reduced(Reduction::Sum),
            KLDivReduction::BatchMean => reduced(Reduction::Sum)? / input.sizes().first().copied().unwrap_or(1),
        }
    };
    PoissonNLLLoss(loss, input, target) => {
        aten::poisson_nll_loss(input, target, loss.log_input, loss.full, loss.eps, loss.reduction.code())
    };
}

impl GaussianNLLLoss {
    /// Computes the loss. The variances have the sizes of the input, or a last dimension of size 1, or no last dimension.
    ///
    /// # Errors
    ///
    /// Returns an error if the sizes do not fit together, or if a variance is negative.
    pub fn forward(&self, input: &Tensor, target: &Tensor, var: &Tensor) -> Result<Tensor> {
        aten::functional::gaussian_nll_loss(input, target, var, self.full, self.eps, self.reduction)
    }
}
