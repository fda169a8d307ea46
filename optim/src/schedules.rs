//! Schedules of the learning rate.

mod annealing;
mod formula;
mod lambda;
mod one_cycle;
mod plateau;
mod sequential;
mod steps;
mod warm_up;

pub use annealing::{CosineAnnealingLR, CosineAnnealingWarmRestarts, CosineAnnealingWarmRestartsOptions};
pub use formula::{FormulaSchedule, LrFormula, LrPoint, Schedule};
pub use lambda::{LambdaLR, LrLambda};
pub use one_cycle::{AnnealStrategy, OneCycleLR, OneCycleLROptions};
pub use plateau::{PlateauMode, ReduceLROnPlateau, ReduceLROnPlateauOptions, ThresholdMode};
pub use sequential::SequentialLR;
pub use steps::{ExponentialLR, MultiStepLR, StepLR};
pub use warm_up::{LinearLR, LinearLROptions, PolynomialLR, PolynomialLROptions};

/// The formulas of the schedules. Programs name the schedules, such as [`StepLR`].
pub mod formulas {
    pub use super::annealing::{CosineAnnealing, WarmRestarts};
    pub use super::lambda::Lambda;
    pub use super::one_cycle::OneCycle;
    pub use super::steps::{Exponential, MultiStep, Step};
}
