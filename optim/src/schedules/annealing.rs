//! Cosine annealing.

use std::f64::consts::PI;

use dispatch_runtime::{BadArgument, Result};

use super::formula::{FormulaSchedule, LrFormula, LrPoint, float};
use crate::optimizer::Optimizer;

/// Follows half a cosine from the initial learning rate to `eta_min` in `t_max` steps, and then back (Loshchilov and Hutter, 2017).
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::{Linear, Module};
/// use dispatch_optim::{CosineAnnealingLR, SGD, SGDOptions, Schedule};
///
/// let mut optimizer = SGD::new(Linear::new(2, 1)?.parameters(), SGDOptions { lr: 1.0, ..SGDOptions::default() })?;
/// let mut schedule = CosineAnnealingLR::new(&mut optimizer, 10, 0.0)?;
/// (0..5).try_for_each(|_| schedule.step(&mut optimizer))?;
/// assert!((schedule.last_lr()[0] - 0.5).abs() < 1e-12);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
pub type CosineAnnealingLR = FormulaSchedule<CosineAnnealing>;

/// The formula of [`CosineAnnealingLR`].
///
/// ```
/// assert!(std::any::type_name::<dispatch_optim::CosineAnnealingLR>().contains("CosineAnnealing"));
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CosineAnnealing {
    t_max: usize,
    eta_min: f64,
}

impl CosineAnnealingLR {
    /// Creates the schedule. PyTorch's default of `eta_min` is zero.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`] if `t_max` is zero.
    pub fn new(optimizer: &mut dyn Optimizer, t_max: usize, eta_min: f64) -> Result<Self> {
        check_positive("t_max", t_max)?;
        Self::with_formula(optimizer, CosineAnnealing { t_max, eta_min })
    }
}

impl LrFormula for CosineAnnealing {
    fn name(&self) -> &'static str {
        "CosineAnnealingLR"
    }

    fn lr(&self, LrPoint { epoch, base_lr, lr, .. }: LrPoint) -> f64 {
        let (t_max, eta_min) = (float(self.t_max), self.eta_min);
        let Some(before) = epoch.checked_sub(1) else { return lr };
        // At the minimum, the quotient of the other formula has a denominator of zero.
        if before.checked_sub(self.t_max).is_some_and(|since| since.is_multiple_of(self.t_max.saturating_mul(2))) {
            return lr + (base_lr - eta_min) * (1.0 - (PI / t_max).cos()) / 2.0;
        }
        let height = |epoch| 1.0 + (PI * float(epoch) / t_max).cos();
        height(epoch) / height(before) * (lr - eta_min) + eta_min
    }
}

/// Follows half a cosine from the initial learning rate to `eta_min` in `t_0` steps, and then starts again, each time for `t_mult` times as
/// many steps (Loshchilov and Hutter, 2017).
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::{Linear, Module};
/// use dispatch_optim::{CosineAnnealingWarmRestarts, SGD, SGDOptions, Schedule};
///
/// let mut optimizer = SGD::new(Linear::new(2, 1)?.parameters(), SGDOptions { lr: 1.0, ..SGDOptions::default() })?;
/// let mut schedule = CosineAnnealingWarmRestarts::new(&mut optimizer, 10)?;
/// (0..10).try_for_each(|_| schedule.step(&mut optimizer))?;
/// assert_eq!(schedule.last_lr(), [1.0]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
pub type CosineAnnealingWarmRestarts = FormulaSchedule<WarmRestarts>;

/// The formula of [`CosineAnnealingWarmRestarts`].
///
/// ```
/// assert!(std::any::type_name::<dispatch_optim::CosineAnnealingWarmRestarts>().contains("WarmRestarts"));
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct WarmRestarts {
    t_0: usize,
    options: CosineAnnealingWarmRestartsOptions,
}

/// The options of [`CosineAnnealingWarmRestarts`].
///
/// ```
/// use dispatch_optim::CosineAnnealingWarmRestartsOptions;
/// assert_eq!(CosineAnnealingWarmRestartsOptions::default().t_mult, 1);
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CosineAnnealingWarmRestartsOptions {
    /// The factor of the number of steps after each restart.
    pub t_mult: usize,
    /// The smallest learning rate.
    pub eta_min: f64,
}

impl Default for CosineAnnealingWarmRestartsOptions {
    fn default() -> Self {
        Self { t_mult: 1, eta_min: 0.0 }
    }
}

impl CosineAnnealingWarmRestarts {
    /// Creates the schedule.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`] if `t_0` is zero.
    pub fn new(optimizer: &mut dyn Optimizer, t_0: usize) -> Result<Self> {
        Self::with(optimizer, t_0, CosineAnnealingWarmRestartsOptions::default())
    }

    /// Creates the schedule with options.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`] if `t_0` or `t_mult` is zero.
    pub fn with(
        optimizer: &mut dyn Optimizer,
        t_0: usize,
        options: CosineAnnealingWarmRestartsOptions,
    ) -> Result<Self> {
        check_positive("t_0", t_0)?;
        check_positive("t_mult", options.t_mult)?;
        Self::with_formula(optimizer, WarmRestarts { t_0, options })
    }
}

impl LrFormula for WarmRestarts {
    fn name(&self) -> &'static str {
        "CosineAnnealingWarmRestarts"
    }

    fn lr(&self, LrPoint { epoch, base_lr, .. }: LrPoint) -> f64 {
        let CosineAnnealingWarmRestartsOptions { t_mult, eta_min } = self.options;
        let (mut since, mut length) = (epoch, self.t_0);
        if t_mult == 1 {
            since %= length;
        }
        while since >= length {
            since -= length;
            length = length.saturating_mul(t_mult);
        }
        eta_min + (base_lr - eta_min) * (1.0 + (PI * float(since) / float(length)).cos()) / 2.0
    }
}

fn check_positive(name: &'static str, steps: usize) -> Result<(), BadArgument> {
    if steps > 0 { Ok(()) } else { Err(BadArgument::value(name, steps, "at least one")) }
}
