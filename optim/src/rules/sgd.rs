//! Stochastic gradient descent.

use dispatch_runtime::{BadArgument, Result};

use crate::optimizer::RuleOptimizer;
use crate::options::{OptionMut, check_not_negative, options};
use crate::update_rule::{StepBatch, UpdateRule};

/// Stochastic gradient descent, with momentum.
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::{Linear, Module};
/// use dispatch_optim::{Optimizer, SGD, SGDOptions};
///
/// let model = Linear::new(2, 1)?;
/// let mut optimizer = SGD::new(model.parameters(), SGDOptions { lr: 0.1, momentum: 0.9, ..SGDOptions::default() })?;
/// optimizer.step()?;
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
pub type SGD = RuleOptimizer<SGDOptions>;

options! {
    /// The options of [`SGD`].
    ///
    /// ```
    /// use dispatch_optim::SGDOptions;
    /// assert_eq!(SGDOptions::default().lr, 1e-3);
    /// ```
    pub struct SGDOptions {
        /// The learning rate.
        lr: f64 = 1e-3,
        /// The decay of the momentum. Zero means no momentum.
        momentum: f64 = 0.0,
        /// The part of a gradient that is not added to the momentum.
        dampening: f64 = 0.0,
        /// The penalty on large parameters.
        weight_decay: f64 = 0.0,
        /// Whether the step looks ahead by the momentum, as Nesterov's.
        nesterov: bool = false,
        /// Whether the step follows the gradient instead of its negative.
        maximize: bool = false,
    }
}

impl UpdateRule for SGDOptions {
    fn check(&self) -> Result<(), BadArgument> {
        check_not_negative("lr", self.lr)?;
        check_not_negative("momentum", self.momentum)?;
        check_not_negative("weight_decay", self.weight_decay)?;
        if self.nesterov && (self.momentum <= 0.0 || self.dampening != 0.0) {
            let rule =
                "false without momentum and with dampening, because Nesterov's step looks ahead by the full momentum";
            return Err(BadArgument::value("nesterov", self.nesterov, rule));
        }
        Ok(())
    }

    fn options(&mut self) -> Vec<(&'static str, OptionMut<'_>)> {
        self.named_options()
    }

    fn state_names(&self) -> &'static [&'static str] {
        if self.momentum == 0.0 { &[] } else { &["momentum_buffer"] }
    }

    fn update(&self, batch: &mut StepBatch) -> Result<()> {
        let StepBatch { params, grads, states, is_new, .. } = batch;
        let momenta = states.first_mut().map(Vec::as_mut_slice).unwrap_or_default();
        aten::_fused_sgd_(
            params,
            grads,
            momenta,
            self.weight_decay,
            self.momentum,
            self.lr,
            self.dampening,
            self.nesterov,
            self.maximize,
            *is_new,
            None,
            None,
        )
    }
}
