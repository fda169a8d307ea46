//! Adam and `AdamW`.

use dispatch_runtime::{BadArgument, Result};

use crate::optimizer::RuleOptimizer;
use crate::options::{OptionMut, check_betas, check_not_negative, options};
use crate::update_rule::{StepBatch, UpdateRule};

/// Adam (Kingma and Ba, 2015).
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::{Linear, Module};
/// use dispatch_optim::{Adam, AdamOptions, Optimizer};
///
/// let model = Linear::new(2, 1)?;
/// let mut optimizer = Adam::new(model.parameters(), AdamOptions { lr: 3e-4, ..AdamOptions::default() })?;
/// optimizer.step()?;
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
pub type Adam = RuleOptimizer<AdamOptions>;

/// Adam with a weight decay that is no part of the gradient (Loshchilov and Hutter, 2019).
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::{Linear, Module};
/// use dispatch_optim::{AdamW, AdamWOptions, Optimizer};
///
/// let model = Linear::new(2, 1)?;
/// let mut optimizer = AdamW::new(model.parameters(), AdamWOptions { lr: 3e-4, ..AdamWOptions::default() })?;
/// optimizer.step()?;
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
pub type AdamW = RuleOptimizer<AdamWOptions>;

options! {
    /// The options of [`Adam`].
    ///
    /// ```
    /// use dispatch_optim::AdamOptions;
    /// assert_eq!(AdamOptions::default().betas, (0.9, 0.999));
    /// ```
    pub struct AdamOptions {
        /// The learning rate.
        lr: f64 = 1e-3,
        /// The decays of the mean of the gradients, and of the mean of their squares.
        betas: (f64, f64) = (0.9, 0.999),
        /// A number that keeps the denominator above zero.
        eps: f64 = 1e-8,
        /// The penalty on large parameters.
        weight_decay: f64 = 0.0,
        /// Whether the denominator uses the maximum of the means of squared gradients.
        amsgrad: bool = false,
        /// Whether the step follows the gradient instead of its negative.
        maximize: bool = false,
        /// Whether the penalty shrinks the parameters directly, as in `AdamW`, and is no part of the gradient.
        decoupled_weight_decay: bool = false,
    }
}

options! {
    /// The options of [`AdamW`].
    ///
    /// ```
    /// use dispatch_optim::AdamWOptions;
    /// assert_eq!(AdamWOptions::default().weight_decay, 1e-2);
    /// ```
    pub struct AdamWOptions {
        /// The learning rate.
        lr: f64 = 1e-3,
        /// The decays of the mean of the gradients, and of the mean of their squares.
        betas: (f64, f64) = (0.9, 0.999),
        /// A number that keeps the denominator above zero.
        eps: f64 = 1e-8,
        /// The part of a parameter that is removed in each step, times the learning rate.
        weight_decay: f64 = 1e-2,
        /// Whether the denominator uses the maximum of the means of squared gradients.
        amsgrad: bool = false,
        /// Whether the step follows the gradient instead of its negative.
        maximize: bool = false,
    }
}

impl UpdateRule for AdamOptions {
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
        if self.amsgrad { &["exp_avg", "exp_avg_sq", "max_exp_avg_sq"] } else { &["exp_avg", "exp_avg_sq"] }
    }

    fn update(&self, batch: &mut StepBatch) -> Result<()> {
        let fused = if self.decoupled_weight_decay { aten::_fused_adamw_ } else { aten::_fused_adam_ };
        let counters = batch.counters();
        let StepBatch { params, grads, states, .. } = batch;
        let [means, squares, maxima @ ..] = states.as_mut_slice() else {
            return Err(BadArgument::length("states", states.len(), 2).into());
        };
        let maxima = maxima.first_mut().map(Vec::as_mut_slice).unwrap_or_default();
        fused(
            params,
            grads,
            means,
            squares,
            maxima,
            &counters,
            self.lr,
            self.betas.0,
            self.betas.1,
            self.weight_decay,
            self.eps,
            self.amsgrad,
            self.maximize,
            None,
            None,
        )
    }
}

impl AdamWOptions {
    const fn as_adam(self) -> AdamOptions {
        let Self { lr, betas, eps, weight_decay, amsgrad, maximize } = self;
        AdamOptions { lr, betas, eps, weight_decay, amsgrad, maximize, decoupled_weight_decay: true }
    }
}

impl UpdateRule for AdamWOptions {
    fn check(&self) -> Result<(), BadArgument> {
        self.as_adam().check()
    }

    fn options(&mut self) -> Vec<(&'static str, OptionMut<'_>)> {
        self.named_options()
    }

    fn state_names(&self) -> &'static [&'static str] {
        self.as_adam().state_names()
    }

    fn update(&self, batch: &mut StepBatch) -> Result<()> {
        self.as_adam().update(batch)
    }
}
