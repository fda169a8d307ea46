//! Errors of optimisers.

use std::fmt;

use dispatch_runtime::{DType, Error};

/// An error of an optimiser, a schedule, or a gradient scaler.
///
/// ```
/// use dispatch_optim::OptimError;
/// let error = OptimError::RepeatedParameter { name: "fc.weight".to_owned() };
/// assert_eq!(error.to_string(), "the parameter `fc.weight` is in the optimiser twice; put it into one group, once");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum OptimError {
    /// The list of parameters is empty.
    NoParameters,
    /// A parameter is in two groups, or in one group twice.
    RepeatedParameter {
        /// The name of the parameter.
        name: String,
    },
    /// Two parameters have the same name.
    RepeatedName {
        /// The name.
        name: String,
    },
    /// No module and no recorded call uses the parameter: the model has another one in its place.
    ParameterReplaced {
        /// The name of the parameter.
        name: String,
    },
    /// The optimiser cannot train a parameter of this dtype.
    UnsupportedDType {
        /// The name of the parameter.
        name: String,
        /// Its dtype.
        dtype: DType,
    },
    /// `LBFGS` was called without a closure.
    NeedsClosure,
    /// The total norm of the gradients is infinite or NaN.
    NonFiniteNorm {
        /// The order of the norm, as text.
        norm_type: String,
    },
    /// `unscale_` was called twice since the last `update`, or after `step`; or `step` was called twice.
    WrongScalerOrder {
        /// The method of the scaler that was called.
        called: &'static str,
        /// The method that was called before it.
        after: &'static str,
    },
    /// `update` was called although no optimiser made a step with the scaler.
    NothingUnscaled,
    /// A step of a scaler found no gradients.
    NoGradients,
    /// The gradients of a parameter are `float16`, so unscaled ones could be zero.
    HalfGradients {
        /// The name of the parameter.
        name: String,
    },
    /// `OneCycleLR` changes the momentum, and the optimiser has none.
    NoMomentum,
    /// The schedule is at its end.
    ScheduleEnded {
        /// The number of steps of the schedule.
        total_steps: usize,
    },
    /// The optimiser has another number of groups than a list has values for groups.
    WrongGroupCount {
        /// The list.
        argument: &'static str,
        /// Its length.
        found: usize,
        /// The number of groups.
        groups: usize,
    },
}

impl fmt::Display for OptimError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoParameters => f.write_str("there are no parameters to train; pass `model.parameters()`"),
            Self::RepeatedParameter { name } => {
                write!(f, "the parameter `{name}` is in the optimiser twice; put it into one group, once")
            }
            Self::RepeatedName { name } => write!(
                f,
                "two parameters have the name `{name}`, which would mix up their states; change the `name` of one of them"
            ),
            Self::ParameterReplaced { name } => write!(
                f,
                "the parameter `{name}` belongs to the optimiser alone: the model has a new tensor in its place, for example \
                 because of `model.to(..)`; create the optimiser after that"
            ),
            Self::UnsupportedDType { name, dtype } => {
                write!(f, "the parameter `{name}` is {dtype}; optimisers train floating-point parameters of 16 bits or more")
            }
            Self::NeedsClosure => f.write_str(
                "LBFGS computes the loss several times in a step; call `step(|| ..)` with a closure that computes the loss and the \
                 gradients",
            ),
            Self::NonFiniteNorm { norm_type } => write!(
                f,
                "the total norm of order {norm_type} of the gradients is infinite or NaN, so they cannot be clipped; \
                 look for an overflow in the loss, or use `ClipGradNormOptions {{ error_if_nonfinite: false, .. }}`"
            ),
            Self::WrongScalerOrder { called, after } => {
                write!(f, "`{called}` was called after `{after}`; call `update` once in each iteration, after `step`")
            }
            Self::NothingUnscaled => f.write_str(
                "no gradients were checked since the last `update`; call `scaler.step(&mut optimizer)` before `scaler.update()`",
            ),
            Self::NoGradients => f.write_str(
                "no parameter of the optimiser has a gradient; call `scaler.scale(&loss)?.backward()?` before `scaler.step(&mut optimizer)`",
            ),
            Self::HalfGradients { name } => write!(
                f,
                "the gradient of `{name}` is float16; train float32 parameters, and compute in float16 under autocast"
            ),
            Self::NoMomentum => f.write_str(
                "the schedule changes the momentum, and the optimiser has neither `momentum` nor `betas`; set \
                 `cycle_momentum: false`",
            ),
            Self::ScheduleEnded { total_steps } => write!(
                f,
                "the schedule has {total_steps} steps, and there is no learning rate after the last one; create it with more steps, \
                 or stop calling `step`"
            ),
            Self::WrongGroupCount { argument, found, groups } => {
                write!(f, "`{argument}` has {found} values, and the optimiser has {groups} groups; give one value for each group")
            }
        }
    }
}

impl std::error::Error for OptimError {}

impl From<OptimError> for Error {
    #[cold]
    fn from(error: OptimError) -> Self {
        Self::kernel(error)
    }
}
