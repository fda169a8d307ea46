//! Resilient backpropagation.

use aten::prelude::*;
use dispatch_runtime::{BadArgument, Result, Tensor};

use crate::optimizer::RuleOptimizer;
use crate::options::{OptionMut, check_not_negative, options};
use crate::update_rule::{StepBatch, UpdateRule};

/// Resilient backpropagation: steps whose size depends on changes of the gradient's sign (Riedmiller and Braun, 1993).
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::{Linear, Module};
/// use dispatch_optim::{Optimizer, Rprop, RpropOptions};
///
/// let model = Linear::new(2, 1)?;
/// Rprop::new(model.parameters(), RpropOptions::default())?.step()?;
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
pub type Rprop = RuleOptimizer<RpropOptions>;

options! {
    /// The options of [`Rprop`].
    ///
    /// ```
    /// use dispatch_optim::RpropOptions;
    /// assert_eq!(RpropOptions::default().etas, (0.5, 1.2));
    /// ```
    pub struct RpropOptions {
        /// The size of the first step.
        lr: f64 = 1e-2,
        /// The factors of the size if the sign has changed, and if it has not.
        etas: (f64, f64) = (0.5, 1.2),
        /// The smallest and the largest size.
        step_sizes: (f64, f64) = (1e-6, 50.0),
        /// Whether the step follows the gradient instead of its negative.
        maximize: bool = false,
    }
}

impl UpdateRule for RpropOptions {
    fn check(&self) -> Result<(), BadArgument> {
        check_not_negative("lr", self.lr)?;
        let (less, more) = self.etas;
        if !(0.0 < less && less < 1.0) {
            return Err(BadArgument::value("etas.0", less, "a number between 0 and 1"));
        }
        if more > 1.0 { Ok(()) } else { Err(BadArgument::value("etas.1", more, "a number above 1")) }
    }

    fn options(&mut self) -> Vec<(&'static str, OptionMut<'_>)> {
        self.named_options()
    }

    fn state_names(&self) -> &'static [&'static str] {
        &["prev", "step_size"]
    }

    fn initial_state(&self, name: &str, param: &Tensor) -> Result<Tensor> {
        if name == "step_size" { param.full_like(self.lr) } else { param.zeros_like() }
    }

    fn update(&self, batch: &mut StepBatch) -> Result<()> {
        let grads = batch.descent(self.maximize, 0.0)?;
        let ((less, more), (min, max)) = (self.etas, self.step_sizes);
        let StepBatch { params, states, .. } = batch;
        let [previous, sizes] = states.as_mut_slice() else { return Ok(()) };
        let parameters = params.iter_mut().zip(grads).zip(previous.iter_mut().zip(sizes));
        for ((param, grad), (previous, size)) in parameters {
            let agreement = (&grad * &*previous)?;
            let has_changed = agreement.lt(0)?;
            // 1 if a sign is zero, and then the size stays.
            let factor = aten::where_scalarself(&agreement.gt(0)?, more.into(), &size.ones_like()?)?;
            let factor = factor.masked_fill(&has_changed, less)?;
            size.mul_(&factor)?;
            size.clamp_(min..=max)?;
            // After a change of the sign, the element stays for one step.
            let grad = grad.masked_fill(&has_changed, 0)?;
            param.addcmul_(&grad.sign()?, size, -1.0)?;
            previous.copy_(&grad)?;
        }
        Ok(())
    }
}
