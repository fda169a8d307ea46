//! The rule of an optimiser: how a step changes parameters.

use std::fmt;

use aten::prelude::*;
use dispatch_runtime::{BadArgument, Result, Tensor};

use crate::options::OptionMut;

/// The rule of an optimiser, with its options. [`RuleOptimizer`](crate::RuleOptimizer) makes an optimiser of it, with parameter groups,
/// schedules and checkpoints.
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::{Linear, Module};
/// use dispatch_optim::{OptionMut, Optimizer, RuleOptimizer, StepBatch, UpdateRule};
/// use dispatch_runtime::{BadArgument, Result};
///
/// /// Moves each element by `lr`, against the sign of its gradient.
/// #[derive(Clone, Debug)]
/// struct SignDescent {
///     lr: f64,
/// }
///
/// impl UpdateRule for SignDescent {
///     fn check(&self) -> Result<(), BadArgument> {
///         Ok(())
///     }
///
///     fn options(&mut self) -> Vec<(&'static str, OptionMut<'_>)> {
///         vec![("lr", (&mut self.lr).into())]
///     }
///
///     fn update(&self, batch: &mut StepBatch) -> Result<()> {
///         aten::_foreach_add__list(&mut batch.params, &aten::_foreach_sign(&batch.grads)?, (-self.lr).into())
///     }
/// }
///
/// let layer = Linear::new(2, 3)?;
/// let mut optimizer = RuleOptimizer::new(layer.parameters(), SignDescent { lr: 0.1 })?;
/// optimizer.step()?;
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
pub trait UpdateRule: Clone + fmt::Debug + 'static {
    /// Checks the options.
    ///
    /// # Errors
    ///
    /// Returns the first option that is wrong.
    fn check(&self) -> Result<(), BadArgument>;

    /// Returns the options with their names. `lr` is the learning rate; `momentum`, or the first number of `betas`, is the momentum.
    fn options(&mut self) -> Vec<(&'static str, OptionMut<'_>)>;

    /// Returns the names of the tensors that a step needs for each parameter and that the optimiser keeps between steps.
    fn state_names(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns the initial tensor of the state `name` of a parameter.
    ///
    /// # Errors
    ///
    /// Returns the error of a called operator.
    fn initial_state(&self, name: &str, param: &Tensor) -> Result<Tensor> {
        let _ = name;
        param.zeros_like()
    }

    /// Makes a step: writes the new elements to `batch.params` and `batch.states`.
    ///
    /// # Errors
    ///
    /// Returns the error of a called operator.
    fn update(&self, batch: &mut StepBatch) -> Result<()>;
}

/// Parameters that are on one device and have made the same number of steps. Complex parameters are given as pairs of real numbers.
///
/// ```
/// let batch = dispatch_optim::StepBatch::default();
/// assert!(batch.params.is_empty());
/// ```
#[derive(Clone, Debug, Default)]
pub struct StepBatch {
    /// The parameters.
    pub params: Vec<Tensor>,
    /// The gradients. A rule does not write to them.
    pub grads: Vec<Tensor>,
    /// A list for each name of [`UpdateRule::state_names`], with a tensor for each parameter.
    pub states: Vec<Vec<Tensor>>,
    /// The number of this step. The first one has the number one.
    pub step: u32,
    /// Whether the states are new.
    pub is_new: bool,
}

impl StepBatch {
    /// Returns the gradients that a step uses: negated to maximise, and with `weight_decay * param` added.
    pub(crate) fn descent(&self, maximize: bool, weight_decay: f64) -> Result<Vec<Tensor>> {
        let mut grads = if maximize { aten::_foreach_neg(&self.grads)? } else { self.grads.clone() };
        if weight_decay == 0.0 {
            return Ok(grads);
        }
        if maximize {
            aten::_foreach_add__list(&mut grads, &self.params, weight_decay.into())?;
            Ok(grads)
        } else {
            aten::_foreach_add_list(&grads, &self.params, weight_decay.into())
        }
    }

    /// Removes a part of the parameters, such as 0.01 of them.
    pub(crate) fn shrink_params(&mut self, part: f64) -> Result<()> {
        if part == 0.0 { Ok(()) } else { aten::_foreach_mul__scalar(&mut self.params, (1.0 - part).into()) }
    }

    /// Returns the lists of states.
    pub(crate) fn states<const N: usize>(&mut self) -> Result<&mut [Vec<Tensor>; N]> {
        let found = self.states.len();
        Ok(self.states.as_mut_slice().try_into().map_err(|_| BadArgument::length("states", found, N))?)
    }

    /// Returns a counter of steps for each parameter, as the fused operators take it.
    pub(crate) fn counters(&self) -> Vec<Tensor> {
        vec![Tensor::from(f64::from(self.step)); self.params.len()]
    }
}
