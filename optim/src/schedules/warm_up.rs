//! Schedules that end after some steps: linear and polynomial.

use dispatch_runtime::{BadArgument, Result};

use super::formula::{FormulaSchedule, LrFormula, LrPoint, float};
use crate::optimizer::Optimizer;

/// Multiplies the initial learning rate by a factor that changes linearly, in `total_iters` steps.
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::{Linear, Module};
/// use dispatch_optim::{LinearLR, LinearLROptions, SGD, SGDOptions, Schedule};
///
/// let mut optimizer = SGD::new(Linear::new(2, 1)?.parameters(), SGDOptions { lr: 1.0, ..SGDOptions::default() })?;
/// let options = LinearLROptions { start_factor: 0.5, total_iters: 2, ..LinearLROptions::default() };
/// let mut schedule = LinearLR::with(&mut optimizer, options)?;
/// schedule.step(&mut optimizer)?;
/// assert_eq!(schedule.last_lr(), [0.75]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
pub type LinearLR = FormulaSchedule<LinearLROptions>;

/// The options of [`LinearLR`].
///
/// ```
/// use dispatch_optim::LinearLROptions;
/// assert_eq!(LinearLROptions::default().total_iters, 5);
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LinearLROptions {
    /// The factor of the first step.
    pub start_factor: f64,
    /// The factor at the end.
    pub end_factor: f64,
    /// The number of steps in which the factor changes.
    pub total_iters: usize,
}

impl Default for LinearLROptions {
    fn default() -> Self {
        Self { start_factor: 1.0 / 3.0, end_factor: 1.0, total_iters: 5 }
    }
}

impl LinearLR {
    /// Creates the schedule.
    ///
    /// # Errors
    ///
    /// Returns no error; the result has the type of other constructors.
    pub fn new(optimizer: &mut dyn Optimizer) -> Result<Self> {
        Self::with(optimizer, LinearLROptions::default())
    }

    /// Creates the schedule with options.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`] if a factor is above 1 or negative, or if `start_factor` is zero.
    pub fn with(optimizer: &mut dyn Optimizer, options: LinearLROptions) -> Result<Self> {
        let LinearLROptions { start_factor, end_factor, .. } = options;
        if !(start_factor > 0.0 && start_factor <= 1.0) {
            return Err(BadArgument::value("start_factor", start_factor, "a number above 0, up to 1").into());
        }
        if !(0.0..=1.0).contains(&end_factor) {
            return Err(BadArgument::number("end_factor", end_factor, 0.0..=1.0).into());
        }
        Self::with_formula(optimizer, options)
    }
}

impl LrFormula for LinearLROptions {
    fn name(&self) -> &'static str {
        "LinearLR"
    }

    fn lr(&self, LrPoint { epoch, lr, .. }: LrPoint) -> f64 {
        if epoch == 0 {
            return lr * self.start_factor;
        }
        if epoch > self.total_iters {
            return lr;
        }
        let change = self.end_factor - self.start_factor;
        lr * (1.0 + change / (float(self.total_iters) * self.start_factor + float(epoch - 1) * change))
    }
}

/// Lets the learning rate fall to zero in `total_iters` steps, along a polynomial.
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::{Linear, Module};
/// use dispatch_optim::{PolynomialLR, PolynomialLROptions, SGD, SGDOptions, Schedule};
///
/// let mut optimizer = SGD::new(Linear::new(2, 1)?.parameters(), SGDOptions { lr: 1.0, ..SGDOptions::default() })?;
/// let mut schedule = PolynomialLR::with(&mut optimizer, PolynomialLROptions { total_iters: 4, power: 2.0 })?;
/// (0..2).try_for_each(|_| schedule.step(&mut optimizer))?;
/// assert!((schedule.last_lr()[0] - 0.25).abs() < 1e-12);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
pub type PolynomialLR = FormulaSchedule<PolynomialLROptions>;

/// The options of [`PolynomialLR`].
///
/// ```
/// use dispatch_optim::PolynomialLROptions;
/// assert_eq!(PolynomialLROptions::default().power, 1.0);
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PolynomialLROptions {
    /// The number of steps until the learning rate is zero.
    pub total_iters: usize,
    /// The degree of the polynomial.
    pub power: f64,
}

impl Default for PolynomialLROptions {
    fn default() -> Self {
        Self { total_iters: 5, power: 1.0 }
    }
}

impl PolynomialLR {
    /// Creates the schedule.
    ///
    /// # Errors
    ///
    /// Returns no error; the result has the type of other constructors.
    pub fn new(optimizer: &mut dyn Optimizer) -> Result<Self> {
        Self::with(optimizer, PolynomialLROptions::default())
    }

    /// Creates the schedule with options.
    ///
    /// # Errors
    ///
    /// Returns no error; the result has the type of other constructors.
    pub fn with(optimizer: &mut dyn Optimizer, options: PolynomialLROptions) -> Result<Self> {
        Self::with_formula(optimizer, options)
    }
}

impl LrFormula for PolynomialLROptions {
    fn name(&self) -> &'static str {
        "PolynomialLR"
    }

    fn lr(&self, LrPoint { epoch, lr, .. }: LrPoint) -> f64 {
        if epoch == 0 || epoch > self.total_iters {
            return lr;
        }
        let total = float(self.total_iters);
        let quotient = (1.0 - float(epoch) / total) / (1.0 - float(epoch - 1) / total);
        lr * quotient.powf(self.power)
    }
}
