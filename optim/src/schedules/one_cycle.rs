//! The one-cycle schedule.

use std::f64::consts::PI;

use dispatch_runtime::{BadArgument, Result};

use super::formula::{FormulaSchedule, LrFormula, LrPoint, check_group_count, float};
use crate::error::OptimError;
use crate::optimizer::Optimizer;

/// Lets the learning rate rise to `max_lr` and then fall far below the initial one, while the momentum falls and rises (Smith and Topin,
/// 2018). Call `step` after each batch.
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::{Linear, Module};
/// use dispatch_optim::{AdamW, AdamWOptions, OneCycleLR, Schedule};
///
/// let mut optimizer = AdamW::new(Linear::new(2, 1)?.parameters(), AdamWOptions::default())?;
/// let mut schedule = OneCycleLR::new(&mut optimizer, 0.1, 100)?;
/// assert!((schedule.last_lr()[0] - 0.1 / 25.0).abs() < 1e-12);
/// (0..29).try_for_each(|_| schedule.step(&mut optimizer))?;
/// assert!((schedule.last_lr()[0] - 0.1).abs() < 1e-12);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
pub type OneCycleLR = FormulaSchedule<OneCycle>;

/// The formula of [`OneCycleLR`].
///
/// ```
/// assert!(std::any::type_name::<dispatch_optim::OneCycleLR>().contains("OneCycle"));
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct OneCycle {
    total_steps: usize,
    options: OneCycleLROptions,
}

/// The form of the rise and of the fall.
///
/// ```
/// use dispatch_optim::AnnealStrategy;
/// assert_eq!(AnnealStrategy::default(), AnnealStrategy::Cos);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum AnnealStrategy {
    /// Half a cosine.
    #[default]
    Cos,
    /// A line.
    Linear,
}

/// The options of [`OneCycleLR`].
///
/// ```
/// use dispatch_optim::OneCycleLROptions;
/// assert_eq!(OneCycleLROptions::default().div_factor, 25.0);
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct OneCycleLROptions {
    /// The part of the steps in which the learning rate rises.
    pub pct_start: f64,
    /// The form of the rise and of the fall.
    pub anneal_strategy: AnnealStrategy,
    /// Whether the schedule changes the momentum, or the first of `betas`.
    pub cycle_momentum: bool,
    /// The smallest momentum.
    pub base_momentum: f64,
    /// The largest momentum, which is also the first.
    pub max_momentum: f64,
    /// `max_lr` divided by the learning rate of the first step.
    pub div_factor: f64,
    /// The learning rate of the first step divided by that of the last.
    pub final_div_factor: f64,
    /// Whether there is a third phase: the learning rate falls to the first one, and only then to the last.
    pub three_phase: bool,
}

impl Default for OneCycleLROptions {
    fn default() -> Self {
        Self {
            pct_start: 0.3,
            anneal_strategy: AnnealStrategy::Cos,
            cycle_momentum: true,
            base_momentum: 0.85,
            max_momentum: 0.95,
            div_factor: 25.0,
            final_div_factor: 1e4,
            three_phase: false,
        }
    }
}

impl OneCycleLR {
    /// Creates the schedule, with the same largest learning rate for all groups.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`] if `total_steps` is zero, and [`OptimError::NoMomentum`] if the optimiser has neither an option `momentum` nor `betas`.
    /// A momentum of zero counts, and is changed.
    pub fn new(optimizer: &mut dyn Optimizer, max_lr: f64, total_steps: usize) -> Result<Self> {
        let max_lrs = vec![max_lr; optimizer.groups().len()];
        Self::with(optimizer, &max_lrs, total_steps, OneCycleLROptions::default())
    }

    /// Creates the schedule with options, and a largest learning rate for each group.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`new`](Self::new), [`BadArgument`] if an option is out of its bounds, and [`OptimError::WrongGroupCount`] if
    /// there are more or fewer learning rates than groups.
    pub fn with(
        optimizer: &mut dyn Optimizer,
        max_lrs: &[f64],
        total_steps: usize,
        options: OneCycleLROptions,
    ) -> Result<Self> {
        if total_steps == 0 {
            return Err(BadArgument::value("total_steps", total_steps, "at least one step").into());
        }
        if !(0.0..=1.0).contains(&options.pct_start) {
            return Err(BadArgument::number("pct_start", options.pct_start, 0.0..=1.0).into());
        }
        for (name, factor) in [("div_factor", options.div_factor), ("final_div_factor", options.final_div_factor)] {
            if !(factor > 0.0 && factor.is_finite()) {
                return Err(BadArgument::value(name, factor, "a number above 0").into());
            }
        }
        let groups = optimizer.groups();
        check_group_count("max_lrs", max_lrs.len(), groups.len())?;
        if options.cycle_momentum && groups.iter().any(|group| group.momentum.is_none()) {
            return Err(OptimError::NoMomentum.into());
        }
        for (group, max_lr) in groups.into_iter().zip(max_lrs) {
            *group.initial_lr = Some(max_lr / options.div_factor);
        }
        Self::with_formula(optimizer, OneCycle { total_steps, options })
    }
}

impl OneCycle {
    /// Returns the value of a step. The phases go from `first` to `peak`, in three phases back to `first`, and then to `last`.
    fn value(&self, epoch: usize, [first, peak, last]: [f64; 3]) -> f64 {
        let (total, step) = (float(self.total_steps), float(epoch));
        let rise = self.options.pct_start * total;
        let phases = [(rise - 1.0, first, peak), (2.0 * rise - 2.0, peak, first), (total - 1.0, first, last)];
        let two_phases = [(rise - 1.0, first, peak), (total - 1.0, peak, last)];
        let phases = if self.options.three_phase { phases.as_slice() } else { two_phases.as_slice() };
        let mut start_step = 0.0;
        for (index, &(end_step, start, end)) in phases.iter().enumerate() {
            if step <= end_step || index + 1 == phases.len() {
                let length = end_step - start_step;
                return self.anneal(start, end, if length == 0.0 { 1.0 } else { (step - start_step) / length });
            }
            start_step = end_step;
        }
        last
    }

    fn anneal(&self, start: f64, end: f64, part: f64) -> f64 {
        match self.options.anneal_strategy {
            AnnealStrategy::Cos => end + (start - end) / 2.0 * ((PI * part).cos() + 1.0),
            AnnealStrategy::Linear => (end - start) * part + start,
        }
    }
}

impl LrFormula for OneCycle {
    fn name(&self) -> &'static str {
        "OneCycleLR"
    }

    fn lr(&self, LrPoint { epoch, base_lr, .. }: LrPoint) -> f64 {
        self.value(epoch, [base_lr, base_lr * self.options.div_factor, base_lr / self.options.final_div_factor])
    }

    fn momentum(&self, epoch: usize) -> Option<f64> {
        let OneCycleLROptions { cycle_momentum, base_momentum, max_momentum, .. } = self.options;
        cycle_momentum.then(|| self.value(epoch, [max_momentum, base_momentum, max_momentum]))
    }

    fn last_epoch(&self) -> Option<usize> {
        Some(self.total_steps)
    }
}
