//! Schedules one after the other.

use std::fmt;

use dispatch_nn::{State, StateError, StateProblem, StateReader, Stateful};
use dispatch_runtime::{BadArgument, Result};

use super::formula::Schedule;
use crate::optimizer::Optimizer;

/// Runs schedules one after the other. Each starts at its milestone, from the initial learning rate.
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::{Linear, Module};
/// use dispatch_optim::{CosineAnnealingLR, LinearLR, SGD, SGDOptions, Schedule, SequentialLR};
///
/// let mut optimizer = SGD::new(Linear::new(2, 1)?.parameters(), SGDOptions { lr: 1.0, ..SGDOptions::default() })?;
/// let warm_up = LinearLR::new(&mut optimizer)?;
/// let annealing = CosineAnnealingLR::new(&mut optimizer, 95, 0.0)?;
/// let mut schedule = SequentialLR::new(&mut optimizer, vec![Box::new(warm_up), Box::new(annealing)], [5])?;
/// (0..5).try_for_each(|_| schedule.step(&mut optimizer))?;
/// assert_eq!(schedule.last_lr(), [1.0]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
pub struct SequentialLR {
    schedules: Vec<Box<dyn Schedule>>,
    milestones: Vec<usize>,
    epoch: usize,
}

impl SequentialLR {
    /// Creates the schedule, and sets the learning rates of the first step.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`] if there are no schedules, if the number of milestones is not one less, or if the milestones do not rise.
    pub fn new(
        optimizer: &mut dyn Optimizer,
        schedules: Vec<Box<dyn Schedule>>,
        milestones: impl IntoIterator<Item = usize>,
    ) -> Result<Self> {
        let milestones: Vec<usize> = milestones.into_iter().collect();
        if schedules.is_empty() {
            return Err(BadArgument::value("schedules", "empty", "a list with at least one schedule").into());
        }
        if milestones.len() != schedules.len() - 1 {
            let error = BadArgument::length("milestones", milestones.len(), schedules.len() - 1);
            return Err(error.because("each schedule after the first one starts at a milestone").into());
        }
        if !milestones.is_sorted() {
            return Err(BadArgument::value("milestones", format!("{milestones:?}"), "a list that rises").into());
        }
        let mut schedule = Self { schedules, milestones, epoch: 0 };
        schedule.restart(optimizer)?;
        Ok(schedule)
    }

    /// Returns the index of the schedule that runs at the current step.
    fn current(&self) -> usize {
        self.milestones.partition_point(|&milestone| milestone <= self.epoch)
    }
}

impl Schedule for SequentialLR {
    fn step(&mut self, optimizer: &mut dyn Optimizer) -> Result<()> {
        self.epoch = self.epoch.saturating_add(1);
        let (current, epoch) = (self.current(), self.epoch);
        let starts = current.checked_sub(1).and_then(|before| self.milestones.get(before)) == Some(&epoch);
        match self.schedules.get_mut(current) {
            Some(schedule) if starts => schedule.restart(optimizer),
            Some(schedule) => schedule.step(optimizer),
            None => Ok(()),
        }
    }

    fn restart(&mut self, optimizer: &mut dyn Optimizer) -> Result<()> {
        self.epoch = 0;
        let current = self.current();
        self.schedules.get_mut(current).map_or(Ok(()), |schedule| schedule.restart(optimizer))
    }

    fn last_lr(&self) -> &[f64] {
        self.schedules.get(self.current()).map(|schedule| schedule.last_lr()).unwrap_or_default()
    }
}

impl Stateful for SequentialLR {
    fn state(&self) -> Result<State> {
        let mut state = State::default();
        state.set_value("last_epoch", self.epoch);
        for (i, schedule) in self.schedules.iter().enumerate() {
            state.insert(&i.to_string(), schedule.state()?);
        }
        Ok(state)
    }

    fn check_state(&self, state: &State) -> Result<Vec<StateProblem>> {
        let mut own = State::default();
        own.values.extend(state.values.get("last_epoch").map(|epoch| ("last_epoch".to_owned(), epoch.clone())));
        let mut reader = StateReader::new(&own);
        reader.value::<usize>("last_epoch");
        let mut problems = reader.problems();
        for (i, schedule) in self.schedules.iter().enumerate() {
            let part = i.to_string();
            problems.extend(schedule.check_state(&state.part(&part))?.into_iter().map(|problem| problem.within(&part)));
        }
        Ok(problems)
    }

    fn load_state(&mut self, state: &State) -> Result<()> {
        StateError::check(self.check_state(state)?)?;
        self.epoch = state.value("last_epoch")?;
        for (i, schedule) in self.schedules.iter_mut().enumerate() {
            schedule.load_state(&state.part(&i.to_string()))?;
        }
        Ok(())
    }
}

impl fmt::Debug for SequentialLR {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SequentialLR")
            .field("milestones", &self.milestones)
            .field("epoch", &self.epoch)
            .finish_non_exhaustive()
    }
}
