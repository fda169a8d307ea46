//! `RMSprop`.

use dispatch_runtime::{BadArgument, Result};

use crate::optimizer::RuleOptimizer;
use crate::options::{OptionMut, check_not_negative, options};
use crate::update_rule::{StepBatch, UpdateRule};

/// `RMSprop`: steps divided by the root of the mean of squared gradients (Hinton, 2012).
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::{Linear, Module};
/// use dispatch_optim::{Optimizer, RMSprop, RMSpropOptions};
///
/// let model = Linear::new(2, 1)?;
/// RMSprop::new(model.parameters(), RMSpropOptions { momentum: 0.9, ..RMSpropOptions::default() })?.step()?;
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
pub type RMSprop = RuleOptimizer<RMSpropOptions>;

options! {
    /// The options of [`RMSprop`].
    ///
    /// ```
    /// use dispatch_optim::RMSpropOptions;
    /// assert_eq!(RMSpropOptions::default().alpha, 0.99);
    /// ```
    pub struct RMSpropOptions {
        /// The learning rate.
        lr: f64 = 1e-2,
        /// The decay of the mean of squared gradients.
        alpha: f64 = 0.99,
        /// A number that keeps the denominator above zero.
        eps: f64 = 1e-8,
        /// The penalty on large parameters.
        weight_decay: f64 = 0.0,
        /// The decay of the momentum. Zero means no momentum.
        momentum: f64 = 0.0,
        /// Whether the denominator is the standard deviation of the gradients.
        centered: bool = false,
        /// Whether the step follows the gradient instead of its negative.
        maximize: bool = false,
    }
}

impl UpdateRule for RMSpropOptions {
    fn check(&self) -> Result<(), BadArgument> {
        check_not_negative("lr", self.lr)?;
        check_not_negative("alpha", self.alpha)?;
        check_not_negative("eps", self.eps)?;
        check_not_negative("weight_decay", self.weight_decay)?;
        check_not_negative("momentum", self.momentum)
    }

    fn options(&mut self) -> Vec<(&'static str, OptionMut<'_>)> {
        self.named_options()
    }

    fn state_names(&self) -> &'static [&'static str] {
        match (self.centered, self.momentum > 0.0) {
            (false, false) => &["square_avg"],
            (true, false) => &["square_avg", "grad_avg"],
            (false, true) => &["square_avg", "momentum_buffer"],
            (true, true) => &["square_avg", "grad_avg", "momentum_buffer"],
        }
    }

    fn update(&self, batch: &mut StepBatch) -> Result<()> {
        let grads = batch.descent(self.maximize, self.weight_decay)?;
        let StepBatch { params, states, .. } = batch;
        let [squares, others @ ..] = states.as_mut_slice() else { return Ok(()) };
        aten::_foreach_mul__scalar(squares, self.alpha.into())?;
        aten::_foreach_addcmul__scalar(squares, &grads, &grads, (1.0 - self.alpha).into())?;
        let mut denominators = match others.first_mut().filter(|_| self.centered) {
            None => aten::_foreach_sqrt(squares)?,
            Some(means) => {
                aten::_foreach_lerp__scalar(means, &grads, (1.0 - self.alpha).into())?;
                let mut variances = aten::_foreach_addcmul_scalar(squares, means, means, (-1.0).into())?;
                aten::_foreach_sqrt_(&mut variances)?;
                variances
            }
        };
        aten::_foreach_add__scalar(&mut denominators, self.eps.into())?;
        match others.last_mut().filter(|_| self.momentum > 0.0) {
            None => aten::_foreach_addcdiv__scalar(params, &grads, &denominators, (-self.lr).into()),
            Some(momenta) => {
                aten::_foreach_mul__scalar(momenta, self.momentum.into())?;
                aten::_foreach_addcdiv__scalar(momenta, &grads, &denominators, 1.0.into())?;
                aten::_foreach_add__list(params, momenta, (-self.lr).into())
            }
        }
    }
}
