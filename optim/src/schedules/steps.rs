//! Schedules that multiply the learning rate by a factor, at some steps or at all.

use dispatch_runtime::{BadArgument, Result};

use super::formula::{FormulaSchedule, LrFormula, LrPoint, power};
use crate::optimizer::Optimizer;

/// Multiplies the learning rate by `gamma` every `step_size` steps.
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::{Linear, Module};
/// use dispatch_optim::{SGD, SGDOptions, Schedule, StepLR};
///
/// let mut optimizer = SGD::new(Linear::new(2, 1)?.parameters(), SGDOptions { lr: 0.5, ..SGDOptions::default() })?;
/// let mut schedule = StepLR::new(&mut optimizer, 1, 0.5)?;
/// schedule.step(&mut optimizer)?;
/// assert_eq!(schedule.last_lr(), [0.25]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
pub type StepLR = FormulaSchedule<Step>;

/// The formula of [`StepLR`].
///
/// ```
/// assert!(std::any::type_name::<dispatch_optim::StepLR>().contains("Step"));
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Step {
    step_size: usize,
    gamma: f64,
}

impl StepLR {
    /// Creates the schedule. PyTorch's default of `gamma` is 0.1.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`] if `step_size` is zero.
    pub fn new(optimizer: &mut dyn Optimizer, step_size: usize, gamma: f64) -> Result<Self> {
        if step_size == 0 {
            return Err(BadArgument::value("step_size", step_size, "at least one step").into());
        }
        Self::with_formula(optimizer, Step { step_size, gamma })
    }
}

impl LrFormula for Step {
    fn name(&self) -> &'static str {
        "StepLR"
    }

    fn lr(&self, at: LrPoint) -> f64 {
        if at.epoch > 0 && at.epoch.is_multiple_of(self.step_size) { at.lr * self.gamma } else { at.lr }
    }
}

/// Multiplies the learning rate by `gamma` at given steps.
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::{Linear, Module};
/// use dispatch_optim::{MultiStepLR, SGD, SGDOptions, Schedule};
///
/// let mut optimizer = SGD::new(Linear::new(2, 1)?.parameters(), SGDOptions { lr: 0.5, ..SGDOptions::default() })?;
/// let mut schedule = MultiStepLR::new(&mut optimizer, [1, 3], 0.5)?;
/// (0..3).try_for_each(|_| schedule.step(&mut optimizer))?;
/// assert_eq!(schedule.last_lr(), [0.125]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
pub type MultiStepLR = FormulaSchedule<MultiStep>;

/// The formula of [`MultiStepLR`].
///
/// ```
/// assert!(std::any::type_name::<dispatch_optim::MultiStepLR>().contains("MultiStep"));
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct MultiStep {
    milestones: Vec<usize>,
    gamma: f64,
}

impl MultiStepLR {
    /// Creates the schedule. A step that `milestones` has twice multiplies twice. PyTorch's default of `gamma` is 0.1.
    ///
    /// # Errors
    ///
    /// Returns no error; the result has the type of other constructors.
    pub fn new(optimizer: &mut dyn Optimizer, milestones: impl IntoIterator<Item = usize>, gamma: f64) -> Result<Self> {
        Self::with_formula(optimizer, MultiStep { milestones: milestones.into_iter().collect(), gamma })
    }
}

impl LrFormula for MultiStep {
    fn name(&self) -> &'static str {
        "MultiStepLR"
    }

    fn lr(&self, at: LrPoint) -> f64 {
        match self.milestones.iter().filter(|&&milestone| milestone == at.epoch).count() {
            0 => at.lr,
            count => at.lr * power(self.gamma, count),
        }
    }
}

/// Multiplies the learning rate by `gamma` at every step.
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::{Linear, Module};
/// use dispatch_optim::{ExponentialLR, SGD, SGDOptions, Schedule};
///
/// let mut optimizer = SGD::new(Linear::new(2, 1)?.parameters(), SGDOptions { lr: 1.0, ..SGDOptions::default() })?;
/// let mut schedule = ExponentialLR::new(&mut optimizer, 0.5)?;
/// (0..3).try_for_each(|_| schedule.step(&mut optimizer))?;
/// assert_eq!(schedule.last_lr(), [0.125]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
pub type ExponentialLR = FormulaSchedule<Exponential>;

/// The formula of [`ExponentialLR`].
///
/// ```
/// assert!(std::any::type_name::<dispatch_optim::ExponentialLR>().contains("Exponential"));
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Exponential {
    gamma: f64,
}

impl ExponentialLR {
    /// Creates the schedule.
    ///
    /// # Errors
    ///
    /// Returns no error; the result has the type of other constructors.
    pub fn new(optimizer: &mut dyn Optimizer, gamma: f64) -> Result<Self> {
        Self::with_formula(optimizer, Exponential { gamma })
    }
}

impl LrFormula for Exponential {
    fn name(&self) -> &'static str {
        "ExponentialLR"
    }

    fn lr(&self, at: LrPoint) -> f64 {
        if at.epoch == 0 { at.lr } else { at.lr * self.gamma }
    }
}
