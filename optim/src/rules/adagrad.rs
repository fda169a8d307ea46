//! Adagrad.

use aten::prelude::*;
use dispatch_runtime::{BadArgument, Result, Tensor};

use crate::optimizer::RuleOptimizer;
use crate::options::{OptionMut, check_not_negative, options};
use crate::update_rule::{StepBatch, UpdateRule};

/// Adagrad: steps that shrink with the sum of squared gradients (Duchi, Hazan and Singer, 2011).
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::{Linear, Module};
/// use dispatch_optim::{Adagrad, AdagradOptions, Optimizer};
///
/// let model = Linear::new(2, 1)?;
/// Adagrad::new(model.parameters(), AdagradOptions::default())?.step()?;
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
pub type Adagrad = RuleOptimizer<AdagradOptions>;

options! {
    /// The options of [`Adagrad`].
    ///
    /// ```
    /// use dispatch_optim::AdagradOptions;
    /// assert_eq!(AdagradOptions::default().eps, 1e-10);
    /// ```
    pub struct AdagradOptions {
        /// The learning rate of the first step.
        lr: f64 = 1e-2,
        /// The decay of the learning rate with the number of steps.
        lr_decay: f64 = 0.0,
        /// The penalty on large parameters.
        weight_decay: f64 = 0.0,
        /// The sum of squared gradients before the first step.
        initial_accumulator_value: f64 = 0.0,
        /// A number that keeps the denominator above zero.
        eps: f64 = 1e-10,
        /// Whether the step follows the gradient instead of its negative.
        maximize: bool = false,
    }
}

impl UpdateRule for AdagradOptions {
    fn check(&self) -> Result<(), BadArgument> {
        check_not_negative("lr", self.lr)?;
        check_not_negative("lr_decay", self.lr_decay)?;
        check_not_negative("weight_decay", self.weight_decay)?;
        check_not_negative("initial_accumulator_value", self.initial_accumulator_value)?;
        check_not_negative("eps", self.eps)
    }

    fn options(&mut self) -> Vec<(&'static str, OptionMut<'_>)> {
        self.named_options()
    }

    fn state_names(&self) -> &'static [&'static str] {
        &["sum"]
    }

    fn initial_state(&self, _: &str, param: &Tensor) -> Result<Tensor> {
        param.full_like(self.initial_accumulator_value)
    }

    fn update(&self, batch: &mut StepBatch) -> Result<()> {
        let mut counters = batch.counters();
        let StepBatch { params, grads, states, .. } = batch;
        let sums = states.first_mut().map(Vec::as_mut_slice).unwrap_or_default();
        aten::_fused_adagrad_(
            params,
            grads,
            sums,
            &mut counters,
            self.lr,
            self.lr_decay,
            self.weight_decay,
            self.eps,
            self.maximize,
            None,
            None,
        )
    }
}
