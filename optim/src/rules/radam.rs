//! `RAdam`.

use dispatch_runtime::{BadArgument, Result};

use crate::optimizer::RuleOptimizer;
use crate::options::{OptionMut, check_betas, check_not_negative, options};
use crate::update_rule::{StepBatch, UpdateRule};

/// Adam with a rectified variance: the first steps use the mean of the gradients alone (Liu and others, 2020).
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::{Linear, Module};
/// use dispatch_optim::{Optimizer, RAdam, RAdamOptions};
///
/// let model = Linear::new(2, 1)?;
/// RAdam::new(model.parameters(), RAdamOptions::default())?.step()?;
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
pub type RAdam = RuleOptimizer<RAdamOptions>;

options! {
    /// The options of [`RAdam`].
    ///
    /// ```
    /// use dispatch_optim::RAdamOptions;
    /// assert_eq!(RAdamOptions::default().lr, 1e-3);
    /// ```
    pub struct RAdamOptions {
        /// The learning rate.
        lr: f64 = 1e-3,
        /// The decays of the mean of the gradients, and of the mean of their squares.
        betas: (f64, f64) = (0.9, 0.999),
        /// A number that keeps the denominator above zero.
        eps: f64 = 1e-8,
        /// The penalty on large parameters.
        weight_decay: f64 = 0.0,
        /// Whether the penalty shrinks the parameters directly, as in `AdamW`, and is no part of the gradient.
        decoupled_weight_decay: bool = false,
        /// Whether the step follows the gradient instead of its negative.
        maximize: bool = false,
    }
}

impl RAdamOptions {
    /// Returns the factor of the adaptive step, or `None` if the variance of the first steps is not known well enough.
    fn rectification(&self, step: f64) -> Option<f64> {
        let beta2 = self.betas.1;
        let longest = 2.0 / (1.0 - beta2) - 1.0;
        let power = beta2.powf(step);
        let length = longest - 2.0 * step * power / (1.0 - power);
        let squared = (length - 4.0) * (length - 2.0) * longest / ((longest - 4.0) * (longest - 2.0) * length);
        (length > 5.0).then(|| squared.sqrt())
    }
}

impl UpdateRule for RAdamOptions {
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
        &["exp_avg", "exp_avg_sq"]
    }

    fn update(&self, batch: &mut StepBatch) -> Result<()> {
        let step = f64::from(batch.step);
        let grads = if self.decoupled_weight_decay {
            batch.shrink_params(self.lr * self.weight_decay)?;
            batch.descent(self.maximize, 0.0)?
        } else {
            batch.descent(self.maximize, self.weight_decay)?
        };
        let [means, squares] = batch.states()?;
        aten::_foreach_lerp__scalar(means, &grads, (1.0 - self.betas.0).into())?;
        aten::_foreach_mul__scalar(squares, self.betas.1.into())?;
        aten::_foreach_addcmul__scalar(squares, &grads, &grads, (1.0 - self.betas.1).into())?;
        let factor = -self.lr / (1.0 - self.betas.0.powf(step));
        let StepBatch { params, states, .. } = batch;
        let [means, squares] = states.as_slice() else { return Ok(()) };
        match self.rectification(step) {
            None => aten::_foreach_add__list(params, means, factor.into()),
            Some(rectification) => {
                let factor = factor * rectification * (1.0 - self.betas.1.powf(step)).sqrt();
                let mut denominators = aten::_foreach_sqrt(squares)?;
                aten::_foreach_add__scalar(&mut denominators, self.eps.into())?;
                aten::_foreach_addcdiv__scalar(params, means, &denominators, factor.into())
            }
        }
    }
}
