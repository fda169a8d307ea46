//! Schedules that are a function of the caller.

use std::fmt;

use dispatch_runtime::Result;

use super::formula::{FormulaSchedule, LrFormula, LrPoint, check_group_count};
use crate::optimizer::Optimizer;

/// Multiplies the initial learning rate by a function of the number of steps.
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::{Linear, Module};
/// use dispatch_optim::{LambdaLR, SGD, SGDOptions, Schedule};
///
/// let mut optimizer = SGD::new(Linear::new(2, 1)?.parameters(), SGDOptions { lr: 1.0, ..SGDOptions::default() })?;
/// let mut schedule = LambdaLR::new(&mut optimizer, |epoch| 1.0 / (epoch + 1) as f64)?;
/// schedule.step(&mut optimizer)?;
/// assert_eq!(schedule.last_lr(), [0.5]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
pub type LambdaLR = FormulaSchedule<Lambda>;

/// A function that returns the factor of the initial learning rate after a number of steps.
///
/// ```
/// let halve: dispatch_optim::LrLambda = Box::new(|epoch| 0.5_f64.powi(epoch as i32));
/// assert_eq!(halve(2), 0.25);
/// ```
pub type LrLambda = Box<dyn Fn(usize) -> f64 + Send + Sync>;

/// The formula of [`LambdaLR`].
///
/// ```
/// assert!(std::any::type_name::<dispatch_optim::LambdaLR>().contains("Lambda"));
/// ```
pub struct Lambda {
    /// One function for each group, or one for all.
    functions: Vec<LrLambda>,
}

impl LambdaLR {
    /// Creates the schedule, with one function for all groups.
    ///
    /// # Errors
    ///
    /// Returns no error; the result has the type of other constructors.
    pub fn new(
        optimizer: &mut dyn Optimizer,
        lr_lambda: impl Fn(usize) -> f64 + Send + Sync + 'static,
    ) -> Result<Self> {
        Self::with_formula(optimizer, Lambda { functions: vec![Box::new(lr_lambda)] })
    }

    /// Creates the schedule, with a function for each group.
    ///
    /// # Errors
    ///
    /// Returns [`OptimError::WrongGroupCount`](crate::OptimError::WrongGroupCount) if there are more or fewer functions than groups.
    pub fn for_groups(optimizer: &mut dyn Optimizer, lr_lambdas: Vec<LrLambda>) -> Result<Self> {
        check_group_count("lr_lambdas", lr_lambdas.len(), optimizer.groups().len())?;
        Self::with_formula(optimizer, Lambda { functions: lr_lambdas })
    }
}

impl LrFormula for Lambda {
    fn name(&self) -> &'static str {
        "LambdaLR"
    }

    fn lr(&self, LrPoint { epoch, group, base_lr, .. }: LrPoint) -> f64 {
        self.functions
            .get(group)
            .or_else(|| self.functions.first())
            .map_or(base_lr, |function| base_lr * function(epoch))
    }
}

impl fmt::Debug for Lambda {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Lambda({} functions)", self.functions.len())
    }
}
