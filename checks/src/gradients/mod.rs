//! Checks of gradients, in double precision.

mod differentiable_call;
mod differentiable_inputs;
mod exemptions;
mod finite_differences;
mod in_place;
mod recorded_gradients;

pub(crate) use differentiable_call::DifferentiableCall;
pub(crate) use differentiable_inputs::cosine_cotangent;
pub use finite_differences::pseudorandom_numbers;
pub(crate) use finite_differences::{
    EvaluationPoint, NOT_SMOOTH, check as numeric, check_first_order, check_second_order,
};
pub(crate) use in_place::check as in_place;
pub(crate) use recorded_gradients::check as recorded;
