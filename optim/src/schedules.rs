//! Schedules of the learning rate.

mod annealing;
mod formula;
mod lambda;
mod one_cycle;
mod plateau;
mod sequential;
mod steps;
mod warm_up;

pub use annealing::{
    CosineAnnealing, CosineAnnealingLR, CosineAnnealingWarmRestarts, CosineAnnealingWarmRestartsOptions, WarmRestarts,
};
pub use formula::{FormulaSchedule, LrFormula, LrPoint, Schedule};
pub use lambda::{Lambda, LambdaLR, LrLambda};
pub use one_cycle::{AnnealStrategy, OneCycle, OneCycleLR, OneCycleLROptions};
pub use plateau::{PlateauMode, ReduceLROnPlateau, ReduceLROnPlateauOptions, ThresholdMode};
pub use sequential::SequentialLR;
pub use steps::{Exponential, ExponentialLR, MultiStep, MultiStepLR, Step, StepLR};
pub use warm_up::{LinearLR, LinearLROptions, PolynomialLR, PolynomialLROptions};
