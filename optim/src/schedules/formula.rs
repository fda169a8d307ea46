//! Schedules, and those that are a formula of the number of steps.

use dispatch_nn::{State, StateError, StateProblem, StateReader, Stateful};
use dispatch_runtime::Result;

use crate::error::OptimError;
use crate::optimizer::Optimizer;

/// A schedule of the learning rate. Call [`step`](Self::step) after the steps of the optimiser, once per epoch or once per batch.
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::{Linear, Module};
/// use dispatch_optim::{Optimizer, SGD, SGDOptions, Schedule, StepLR};
///
/// let model = Linear::new(2, 1)?;
/// let mut optimizer = SGD::new(model.parameters(), SGDOptions { lr: 0.5, ..SGDOptions::default() })?;
/// let mut schedule = StepLR::new(&mut optimizer, 2, 0.1)?;
/// let mut lrs = Vec::new();
/// for _epoch in 0..4 {
///     optimizer.step()?;
///     lrs.push(schedule.last_lr()[0]);
///     schedule.step(&mut optimizer)?;
/// }
/// assert_eq!(lrs, [0.5, 0.5, 0.05, 0.05]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
pub trait Schedule: Stateful {
    /// Sets the learning rates of the next step.
    ///
    /// # Errors
    ///
    /// Returns [`OptimError`] if the optimiser has another number of groups, or if the schedule has ended.
    fn step(&mut self, optimizer: &mut dyn Optimizer) -> Result<()>;

    /// Sets the learning rates of the first step, as if the schedule were new and the optimiser had its initial learning rates.
    ///
    /// # Errors
    ///
    /// Returns [`OptimError`] if the optimiser has another number of groups.
    fn restart(&mut self, optimizer: &mut dyn Optimizer) -> Result<()>;

    /// Returns the current learning rate of each group.
    fn last_lr(&self) -> &[f64];
}

/// The formula of a schedule. [`FormulaSchedule`] makes a schedule of it.
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::{Linear, Module};
/// use dispatch_optim::{FormulaSchedule, LrFormula, LrPoint, SGD, SGDOptions, Schedule};
///
/// /// The learning rate of the first step, divided by the root of the number of steps.
/// struct InverseRoot;
///
/// impl LrFormula for InverseRoot {
///     fn name(&self) -> &'static str {
///         "InverseRoot"
///     }
///
///     fn lr(&self, at: LrPoint) -> f64 {
///         at.base_lr / ((at.epoch + 1) as f64).sqrt()
///     }
/// }
///
/// let mut optimizer = SGD::new(Linear::new(2, 1)?.parameters(), SGDOptions { lr: 1.0, ..SGDOptions::default() })?;
/// let mut schedule = FormulaSchedule::with_formula(&mut optimizer, InverseRoot)?;
/// (0..3).try_for_each(|_| schedule.step(&mut optimizer))?;
/// assert_eq!(schedule.last_lr(), [0.5]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
pub trait LrFormula {
    /// Returns the name of the formula. A state with another name cannot be loaded.
    fn name(&self) -> &'static str;

    /// Returns the learning rate.
    fn lr(&self, at: LrPoint) -> f64;

    /// Returns the momentum, if the schedule changes it.
    fn momentum(&self, epoch: usize) -> Option<f64> {
        let _ = epoch;
        None
    }

    /// Returns the last step that has a learning rate, if there is one.
    fn last_epoch(&self) -> Option<usize> {
        None
    }
}

/// A point in a schedule.
///
/// ```
/// let point = dispatch_optim::LrPoint { epoch: 3, group: 0, base_lr: 0.1, lr: 0.05 };
/// assert!(point.lr < point.base_lr);
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LrPoint {
    /// The number of steps of the schedule.
    pub epoch: usize,
    /// The index of the group.
    pub group: usize,
    /// The initial learning rate of the group.
    pub base_lr: f64,
    /// The learning rate of the group before this step.
    pub lr: f64,
}

/// A schedule that is a formula, as [`StepLR`](crate::StepLR) and [`CosineAnnealingLR`](crate::CosineAnnealingLR) are.
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::{Linear, Module};
/// use dispatch_optim::{CosineAnnealingLR, FormulaSchedule, SGD, SGDOptions, formulas::CosineAnnealing};
///
/// let mut optimizer = SGD::new(Linear::new(2, 1)?.parameters(), SGDOptions::default())?;
/// let schedule: FormulaSchedule<CosineAnnealing> = CosineAnnealingLR::new(&mut optimizer, 10, 0.0)?;
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct FormulaSchedule<F> {
    formula: F,
    epoch: usize,
    base_lrs: Vec<f64>,
    last_lr: Vec<f64>,
}

impl<F: LrFormula> FormulaSchedule<F> {
    /// Creates a schedule, and sets the learning rates of the first step.
    ///
    /// # Errors
    ///
    /// Returns no error; the result has the type of other constructors.
    pub fn with_formula(optimizer: &mut dyn Optimizer, formula: F) -> Result<Self> {
        let base_lrs = optimizer.groups().into_iter().map(|group| *group.initial_lr.get_or_insert(*group.lr)).collect();
        let mut schedule = Self { formula, epoch: 0, base_lrs, last_lr: Vec::new() };
        schedule.set_lrs(optimizer)?;
        Ok(schedule)
    }

    fn set_lrs(&mut self, optimizer: &mut dyn Optimizer) -> Result<()> {
        if let Some(last) = self.formula.last_epoch().filter(|last| self.epoch > *last) {
            return Err(OptimError::ScheduleEnded { total_steps: last }.into());
        }
        let groups = optimizer.groups();
        check_group_count("schedule", self.base_lrs.len(), groups.len())?;
        self.last_lr.clear();
        for (index, (group, &base_lr)) in groups.into_iter().zip(&self.base_lrs).enumerate() {
            *group.lr = self.formula.lr(LrPoint { epoch: self.epoch, group: index, base_lr, lr: *group.lr });
            self.last_lr.push(*group.lr);
            if let (Some(momentum), Some(new)) = (group.momentum, self.formula.momentum(self.epoch)) {
                *momentum = new;
            }
        }
        Ok(())
    }
}

impl<F: LrFormula> Schedule for FormulaSchedule<F> {
    fn step(&mut self, optimizer: &mut dyn Optimizer) -> Result<()> {
        self.epoch = self.epoch.saturating_add(1);
        self.set_lrs(optimizer).inspect_err(|_| self.epoch = self.epoch.saturating_sub(1))
    }

    fn restart(&mut self, optimizer: &mut dyn Optimizer) -> Result<()> {
        for (group, &base_lr) in optimizer.groups().into_iter().zip(&self.base_lrs) {
            *group.lr = base_lr;
        }
        self.epoch = 0;
        self.set_lrs(optimizer)
    }

    fn last_lr(&self) -> &[f64] {
        &self.last_lr
    }
}

impl<F: LrFormula> FormulaSchedule<F> {
    /// Reads the position: the number of steps, the initial and the current learning rates.
    fn read(&self, reader: &mut StateReader<'_>) -> Option<(usize, Vec<f64>, Vec<f64>)> {
        if reader.value("formula").is_some_and(|name: String| name != self.formula.name()) {
            reader.refuse("formula");
        }
        let epoch = reader.value("last_epoch");
        let base_lrs = read_numbers(reader, "base_lr", self.base_lrs.len());
        let last_lr = read_numbers(reader, "last_lr", self.base_lrs.len());
        Some((epoch?, base_lrs, last_lr))
    }
}

impl<F: LrFormula> Stateful for FormulaSchedule<F> {
    fn state(&self) -> Result<State> {
        let mut state = State::default();
        state.set_value("formula", self.formula.name());
        state.set_value("last_epoch", self.epoch);
        save_numbers(&mut state, "base_lr", &self.base_lrs);
        save_numbers(&mut state, "last_lr", &self.last_lr);
        Ok(state)
    }

    fn check_state(&self, state: &State) -> Result<Vec<StateProblem>> {
        let mut reader = StateReader::new(state);
        self.read(&mut reader);
        Ok(reader.problems())
    }

    fn load_state(&mut self, state: &State) -> Result<()> {
        StateError::check(self.check_state(state)?)?;
        if let Some((epoch, base_lrs, last_lr)) = self.read(&mut StateReader::new(state)) {
            (self.epoch, self.base_lrs, self.last_lr) = (epoch, base_lrs, last_lr);
        }
        Ok(())
    }
}

/// Checks that a list has an element for each group of the optimiser.
pub(crate) fn check_group_count(argument: &'static str, found: usize, groups: usize) -> Result<()> {
    if found == groups { Ok(()) } else { Err(OptimError::WrongGroupCount { argument, found, groups }.into()) }
}

/// Adds a number for each group to a state.
pub(crate) fn save_numbers(state: &mut State, name: &str, numbers: &[f64]) {
    for (i, number) in numbers.iter().enumerate() {
        state.set_value(format!("{name}.{i}"), number);
    }
}

/// Returns the numbers of `count` groups in a state. Missing ones are problems.
pub(crate) fn read_numbers(reader: &mut StateReader<'_>, name: &str, count: usize) -> Vec<f64> {
    (0..count).filter_map(|i| reader.value(&format!("{name}.{i}"))).collect()
}

/// Returns a number of steps as a float.
#[expect(clippy::cast_precision_loss, reason = "numbers of steps are far below 2^53")]
pub(crate) const fn float(count: usize) -> f64 {
    count as f64
}

/// Returns `base^exponent` for a number of steps.
pub(crate) fn power(base: f64, exponent: usize) -> f64 {
    base.powf(float(exponent))
}
