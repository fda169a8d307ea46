//! The schedule that waits for a metric to stop improving.

use dispatch_nn::{State, StateError, StateProblem, StateReader, Stateful};
use dispatch_runtime::{BadArgument, Result};

use super::formula::{check_group_count, read_numbers, save_numbers};
use crate::optimizer::Optimizer;

/// Multiplies the learning rate by a factor if a metric has not improved for some steps.
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::{Linear, Module};
/// use dispatch_optim::{ReduceLROnPlateau, ReduceLROnPlateauOptions, SGD, SGDOptions};
///
/// let mut optimizer = SGD::new(Linear::new(2, 1)?.parameters(), SGDOptions { lr: 1.0, ..SGDOptions::default() })?;
/// let options = ReduceLROnPlateauOptions { patience: 1, ..ReduceLROnPlateauOptions::default() };
/// let mut schedule = ReduceLROnPlateau::with(&mut optimizer, options)?;
/// for loss in [0.5, 0.4, 0.4, 0.4] {
///     schedule.step(loss, &mut optimizer)?;
/// }
/// assert_eq!(schedule.last_lr(), [0.1]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ReduceLROnPlateau {
    options: ReduceLROnPlateauOptions,
    best: f64,
    num_bad_epochs: usize,
    cooldown_counter: usize,
    last_lr: Vec<f64>,
}

/// The direction in which a metric improves.
///
/// ```
/// use dispatch_optim::PlateauMode;
/// assert_eq!(PlateauMode::default(), PlateauMode::Min);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PlateauMode {
    /// Less is better, as for a loss.
    #[default]
    Min,
    /// More is better, as for an accuracy.
    Max,
}

/// The meaning of the threshold.
///
/// ```
/// use dispatch_optim::ThresholdMode;
/// assert_eq!(ThresholdMode::default(), ThresholdMode::Rel);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ThresholdMode {
    /// A part of the best metric.
    #[default]
    Rel,
    /// A difference from the best metric.
    Abs,
}

/// The options of [`ReduceLROnPlateau`].
///
/// ```
/// use dispatch_optim::ReduceLROnPlateauOptions;
/// assert_eq!(ReduceLROnPlateauOptions::default().patience, 10);
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ReduceLROnPlateauOptions {
    /// The direction in which the metric improves.
    pub mode: PlateauMode,
    /// The factor of the learning rate.
    pub factor: f64,
    /// The number of steps without improvement that the schedule accepts.
    pub patience: usize,
    /// The least change that counts as an improvement.
    pub threshold: f64,
    /// The meaning of the threshold.
    pub threshold_mode: ThresholdMode,
    /// The number of steps after a reduction that do not count.
    pub cooldown: usize,
    /// The smallest learning rate.
    pub min_lr: f64,
    /// The smallest change of the learning rate. A smaller one is not made.
    pub eps: f64,
}

impl Default for ReduceLROnPlateauOptions {
    fn default() -> Self {
        Self {
            mode: PlateauMode::Min,
            factor: 0.1,
            patience: 10,
            threshold: 1e-4,
            threshold_mode: ThresholdMode::Rel,
            cooldown: 0,
            min_lr: 0.0,
            eps: 1e-8,
        }
    }
}

impl ReduceLROnPlateau {
    /// Creates the schedule.
    ///
    /// # Errors
    ///
    /// Returns no error; the result has the type of other constructors.
    pub fn new(optimizer: &mut dyn Optimizer) -> Result<Self> {
        Self::with(optimizer, ReduceLROnPlateauOptions::default())
    }

    /// Creates the schedule with options.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`] if `factor` is not below 1.
    pub fn with(optimizer: &mut dyn Optimizer, options: ReduceLROnPlateauOptions) -> Result<Self> {
        if options.factor >= 1.0 || options.factor.is_nan() {
            return Err(BadArgument::value("factor", options.factor, "a number below 1").into());
        }
        let best = match options.mode {
            PlateauMode::Min => f64::INFINITY,
            PlateauMode::Max => f64::NEG_INFINITY,
        };
        let last_lr = optimizer.groups().iter().map(|group| *group.lr).collect();
        Ok(Self { options, best, num_bad_epochs: 0, cooldown_counter: 0, last_lr })
    }

    /// Takes the metric of a step, and sets the learning rates of the next one.
    ///
    /// # Errors
    ///
    /// Returns [`OptimError::WrongGroupCount`](crate::OptimError::WrongGroupCount) if the optimiser has another number of groups.
    pub fn step(&mut self, metric: f64, optimizer: &mut dyn Optimizer) -> Result<()> {
        let groups = optimizer.groups();
        check_group_count("schedule", self.last_lr.len(), groups.len())?;
        if self.is_better(metric) {
            (self.best, self.num_bad_epochs) = (metric, 0);
        } else {
            self.num_bad_epochs += 1;
        }
        if self.cooldown_counter > 0 {
            self.cooldown_counter -= 1;
            self.num_bad_epochs = 0;
        }
        let reduces = self.num_bad_epochs > self.options.patience;
        if reduces {
            (self.cooldown_counter, self.num_bad_epochs) = (self.options.cooldown, 0);
        }
        for (group, last) in groups.into_iter().zip(&mut self.last_lr) {
            let new = (*group.lr * self.options.factor).max(self.options.min_lr);
            if reduces && *group.lr - new > self.options.eps {
                *group.lr = new;
            }
            *last = *group.lr;
        }
        Ok(())
    }

    /// Returns the current learning rate of each group.
    #[must_use]
    pub fn last_lr(&self) -> &[f64] {
        &self.last_lr
    }

    fn is_better(&self, metric: f64) -> bool {
        let ReduceLROnPlateauOptions { mode, threshold, threshold_mode, .. } = self.options;
        match (mode, threshold_mode) {
            (PlateauMode::Min, ThresholdMode::Rel) => metric < self.best * (1.0 - threshold),
            (PlateauMode::Min, ThresholdMode::Abs) => metric < self.best - threshold,
            (PlateauMode::Max, ThresholdMode::Rel) => metric > self.best * (threshold + 1.0),
            (PlateauMode::Max, ThresholdMode::Abs) => metric > self.best + threshold,
        }
    }

    fn read(&self, reader: &mut StateReader<'_>) -> Option<Self> {
        let (best, bad) = (reader.value("best"), reader.value("num_bad_epochs"));
        let cooldown = reader.value("cooldown_counter");
        let last_lr = read_numbers(reader, "last_lr", self.last_lr.len());
        let options = self.options;
        Some(Self { options, best: best?, num_bad_epochs: bad?, cooldown_counter: cooldown?, last_lr })
    }
}

impl Stateful for ReduceLROnPlateau {
    fn state(&self) -> Result<State> {
        let mut state = State::default();
        state.set_value("best", self.best);
        state.set_value("num_bad_epochs", self.num_bad_epochs);
        state.set_value("cooldown_counter", self.cooldown_counter);
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
        if let Some(read) = self.read(&mut StateReader::new(state)) {
            *self = read;
        }
        Ok(())
    }
}
