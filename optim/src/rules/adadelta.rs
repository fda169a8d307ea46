//! Adadelta.

use dispatch_runtime::{BadArgument, Result};

use crate::optimizer::RuleOptimizer;
use crate::options::{OptionMut, check_not_negative, options};
use crate::update_rule::{StepBatch, UpdateRule};

/// Adadelta: steps in proportion to the size of earlier steps (Zeiler, 2012).
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::{Linear, Module};
/// use dispatch_optim::{Adadelta, AdadeltaOptions, Optimizer};
///
/// let model = Linear::new(2, 1)?;
/// Adadelta::new(model.parameters(), AdadeltaOptions::default())?.step()?;
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
pub type Adadelta = RuleOptimizer<AdadeltaOptions>;

options! {
    /// The options of [`Adadelta`].
    ///
    /// ```
    /// use dispatch_optim::AdadeltaOptions;
    /// assert_eq!(AdadeltaOptions::default().lr, 1.0);
    /// ```
    pub struct AdadeltaOptions {
        /// A factor of the step.
        lr: f64 = 1.0,
        /// The decay of the means of squared gradients and squared steps.
        rho: f64 = 0.9,
        /// A number that keeps numerator and denominator above zero.
        eps: f64 = 1e-6,
        /// The penalty on large parameters.
        weight_decay: f64 = 0.0,
        /// Whether the step follows the gradient instead of its negative.
        maximize: bool = false,
    }
}

impl UpdateRule for AdadeltaOptions {
    fn check(&self) -> Result<(), BadArgument> {
        check_not_negative("lr", self.lr)?;
        if !(0.0..=1.0).contains(&self.rho) {
            return Err(BadArgument::number("rho", self.rho, 0.0..=1.0));
        }
        check_not_negative("eps", self.eps)?;
        check_not_negative("weight_decay", self.weight_decay)
    }

    fn options(&mut self) -> Vec<(&'static str, OptionMut<'_>)> {
        self.named_options()
    }

    fn state_names(&self) -> &'static [&'static str] {
        &["square_avg", "acc_delta"]
    }

    fn update(&self, batch: &mut StepBatch) -> Result<()> {
        let grads = batch.descent(self.maximize, self.weight_decay)?;
        let [squares, squared_steps] = batch.states()?;
        let decay = |means: &mut [_], news: &[_]| -> Result<()> {
            aten::_foreach_mul__scalar(means, self.rho.into())?;
            aten::_foreach_addcmul__scalar(means, news, news, (1.0 - self.rho).into())
        };
        let root = |means: &[_]| -> Result<Vec<_>> {
            let mut roots = aten::_foreach_add_scalar(means, self.eps.into())?;
            aten::_foreach_sqrt_(&mut roots)?;
            Ok(roots)
        };
        decay(squares, &grads)?;
        let mut steps = root(squared_steps)?;
        aten::_foreach_div__list(&mut steps, &root(squares)?)?;
        aten::_foreach_mul__list(&mut steps, &grads)?;
        decay(squared_steps, &steps)?;
        aten::_foreach_add__list(&mut batch.params, &steps, (-self.lr).into())
    }
}
