//! Lion.

use dispatch_runtime::{BadArgument, Result};

use crate::optimizer::RuleOptimizer;
use crate::options::{OptionMut, check_betas, check_not_negative, options};
use crate::update_rule::{StepBatch, UpdateRule};

/// Lion: steps by the sign of an interpolated momentum (Chen and others, 2023). PyTorch does not have it.
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::{Linear, Module};
/// use dispatch_optim::{Lion, LionOptions, Optimizer};
///
/// let model = Linear::new(2, 1)?;
/// Lion::new(model.parameters(), LionOptions::default())?.step()?;
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
pub type Lion = RuleOptimizer<LionOptions>;

options! {
    /// The options of [`Lion`]. The defaults are those of the publication.
    ///
    /// ```
    /// use dispatch_optim::LionOptions;
    /// assert_eq!(LionOptions::default().betas, (0.9, 0.99));
    /// ```
    pub struct LionOptions {
        /// The learning rate.
        lr: f64 = 1e-4,
        /// The weights of the momentum in a step, and in the next momentum.
        betas: (f64, f64) = (0.9, 0.99),
        /// The part of a parameter that is removed in each step, times the learning rate.
        weight_decay: f64 = 0.0,
        /// Whether the step follows the gradient instead of its negative.
        maximize: bool = false,
    }
}

impl UpdateRule for LionOptions {
    fn check(&self) -> Result<(), BadArgument> {
        check_not_negative("lr", self.lr)?;
        check_betas(self.betas)?;
        check_not_negative("weight_decay", self.weight_decay)
    }

    fn options(&mut self) -> Vec<(&'static str, OptionMut<'_>)> {
        self.named_options()
    }

    fn state_names(&self) -> &'static [&'static str] {
        &["exp_avg"]
    }

    fn update(&self, batch: &mut StepBatch) -> Result<()> {
        let grads = batch.descent(self.maximize, 0.0)?;
        batch.shrink_params(self.lr * self.weight_decay)?;
        let [means] = batch.states()?;
        let mut steps = aten::_foreach_lerp_scalar(means, &grads, (1.0 - self.betas.0).into())?;
        aten::_foreach_sign_(&mut steps)?;
        aten::_foreach_lerp__scalar(means, &grads, (1.0 - self.betas.1).into())?;
        aten::_foreach_add__list(&mut batch.params, &steps, (-self.lr).into())
    }
}
