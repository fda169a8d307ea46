//! `NAdam`.

use aten::prelude::*;
use dispatch_runtime::{BadArgument, DType, Result, Scalar, Tensor};

use crate::optimizer::RuleOptimizer;
use crate::options::{OptionMut, check_betas, check_not_negative, options};
use crate::update_rule::{StepBatch, UpdateRule};

/// Adam with Nesterov's momentum (Dozat, 2016).
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::{Linear, Module};
/// use dispatch_optim::{NAdam, NAdamOptions, Optimizer};
///
/// let model = Linear::new(2, 1)?;
/// NAdam::new(model.parameters(), NAdamOptions::default())?.step()?;
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
pub type NAdam = RuleOptimizer<NAdamOptions>;

options! {
    /// The options of [`NAdam`].
    ///
    /// ```
    /// use dispatch_optim::NAdamOptions;
    /// assert_eq!(NAdamOptions::default().momentum_decay, 4e-3);
    /// ```
    pub struct NAdamOptions {
        /// The learning rate.
        lr: f64 = 2e-3,
        /// The decays of the mean of the gradients, and of the mean of their squares.
        betas: (f64, f64) = (0.9, 0.999),
        /// A number that keeps the denominator above zero.
        eps: f64 = 1e-8,
        /// The penalty on large parameters.
        weight_decay: f64 = 0.0,
        /// How fast the momentum approaches its final value.
        momentum_decay: f64 = 4e-3,
        /// Whether the penalty shrinks the parameters directly, as in `AdamW`, and is no part of the gradient.
        decoupled_weight_decay: bool = false,
        /// Whether the step follows the gradient instead of its negative.
        maximize: bool = false,
    }
}

/// The base of the momentum's approach to its final value, in the publication.
const MOMENTUM_BASE: f64 = 0.96;

impl NAdamOptions {
    /// Returns the momentum of a step.
    fn momentum(&self, step: f64) -> f64 {
        self.betas.0 * (1.0 - 0.5 * MOMENTUM_BASE.powf(step * self.momentum_decay))
    }
}

impl UpdateRule for NAdamOptions {
    fn check(&self) -> Result<(), BadArgument> {
        check_not_negative("lr", self.lr)?;
        check_betas(self.betas)?;
        check_not_negative("eps", self.eps)?;
        check_not_negative("weight_decay", self.weight_decay)?;
        check_not_negative("momentum_decay", self.momentum_decay)
    }

    fn options(&mut self) -> Vec<(&'static str, OptionMut<'_>)> {
        self.named_options()
    }

    fn state_names(&self) -> &'static [&'static str] {
        &["exp_avg", "exp_avg_sq", "mu_product"]
    }

    fn initial_state(&self, name: &str, param: &Tensor) -> Result<Tensor> {
        // The product of the momenta of all steps is one number, which the CPU computes.
        if name == "mu_product" {
            Tensor::ones((), (DType::F64, dispatch_runtime::Device::CPU))
        } else {
            param.zeros_like()
        }
    }

    fn update(&self, batch: &mut StepBatch) -> Result<()> {
        let step = f64::from(batch.step);
        let (momentum, next_momentum) = (self.momentum(step), self.momentum(step + 1.0));
        let grads = if self.decoupled_weight_decay {
            batch.shrink_params(self.lr * self.weight_decay)?;
            batch.descent(self.maximize, 0.0)?
        } else {
            batch.descent(self.maximize, self.weight_decay)?
        };
        let [means, squares, products] = batch.states()?;
        aten::_foreach_lerp__scalar(means, &grads, (1.0 - self.betas.0).into())?;
        aten::_foreach_mul__scalar(squares, self.betas.1.into())?;
        aten::_foreach_addcmul__scalar(squares, &grads, &grads, (1.0 - self.betas.1).into())?;
        let mut denominators = aten::_foreach_sqrt(squares)?;
        aten::_foreach_div__scalar(&mut denominators, (1.0 - self.betas.1.powf(step)).sqrt().into())?;
        aten::_foreach_add__scalar(&mut denominators, self.eps.into())?;
        aten::_foreach_mul__scalar(products, momentum.into())?;
        let (mut of_grads, mut of_means): (Vec<Scalar>, Vec<Scalar>) = (Vec::new(), Vec::new());
        for product in products {
            let product: f64 = product.item()?;
            of_grads.push((-self.lr * (1.0 - momentum) / (1.0 - product)).into());
            of_means.push((-self.lr * next_momentum / (1.0 - product * next_momentum)).into());
        }
        let StepBatch { params, states, .. } = batch;
        let [means, ..] = states.as_slice() else { return Ok(()) };
        aten::_foreach_addcdiv__scalarlist(params, &grads, &denominators, &of_grads)?;
        aten::_foreach_addcdiv__scalarlist(params, means, &denominators, &of_means)
    }
}
