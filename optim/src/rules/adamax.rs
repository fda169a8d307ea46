//! Adamax.

use dispatch_runtime::{BadArgument, Result};

use crate::optimizer::RuleOptimizer;
use crate::options::{OptionMut, check_betas, check_not_negative, options};
use crate::update_rule::{StepBatch, UpdateRule};

/// Adamax: Adam with the largest gradient in place of the mean of squares (Kingma and Ba, 2015).
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::{Linear, Module};
/// use dispatch_optim::{Adamax, AdamaxOptions, Optimizer};
///
/// let model = Linear::new(2, 1)?;
/// Adamax::new(model.parameters(), AdamaxOptions::default())?.step()?;
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
pub type Adamax = RuleOptimizer<AdamaxOptions>;

options! {
    /// The options of [`Adamax`].
    ///
    /// ```
    /// use dispatch_optim::AdamaxOptions;
    /// assert_eq!(AdamaxOptions::default().lr, 2e-3);
    /// ```
    pub struct AdamaxOptions {
        /// The learning rate.
        lr: f64 = 2e-3,
        /// The decays of the mean of the gradients, and of their maximum.
        betas: (f64, f64) = (0.9, 0.999),
        /// A number that keeps the denominator above zero.
        eps: f64 = 1e-8,
        /// The penalty on large parameters.
        weight_decay: f64 = 0.0,
        /// Whether the step follows the gradient instead of its negative.
        maximize: bool = false,
    }
}

impl UpdateRule for AdamaxOptions {
    fn check(&self) -> Result<(), BadArgument> {
        check_not_negative("lr", self.lr)?;
        check_betas(self.betas)?;
        check_not_negative("eps", self.eps)?;
        check_not_negative("weight_decay", self.weight_decay)
    }

    fn options(&mut self) -> Vec<(&'static str, OptionMut<'_>)> {
        self.named_options()
    }

    fn state_names(&self) -> &'static [&'static str] {
        &["exp_avg", "exp_inf"]
    }

    fn update(&self, batch: &mut StepBatch) -> Result<()> {
        let grads = batch.descent(self.maximize, self.weight_decay)?;
        let factor = -self.lr / (1.0 - self.betas.0.powf(batch.step.into()));
        let [means, maxima] = batch.states()?;
        aten::_foreach_lerp__scalar(means, &grads, (1.0 - self.betas.0).into())?;
        aten::_foreach_mul__scalar(maxima, self.betas.1.into())?;
        let mut sizes = aten::_foreach_abs(&grads)?;
        aten::_foreach_add__scalar(&mut sizes, self.eps.into())?;
        aten::_foreach_maximum__list(maxima, &sizes)?;
        let StepBatch { params, states, .. } = batch;
        let [means, maxima] = states.as_slice() else { return Ok(()) };
        aten::_foreach_addcdiv__scalar(params, means, maxima, factor.into())
    }
}
