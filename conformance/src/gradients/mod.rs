//! Checks of gradients, in double precision.

mod differentiable_inputs;
mod exemptions;
mod finite_differences;
pub(crate) mod generated_calls;
mod in_place;
mod recorded_gradients;

pub(crate) use differentiable_inputs::{cosine_cotangent, is_leaf};
pub(crate) use finite_differences::{check as numeric, pseudorandom_numbers};
pub(crate) use in_place::check as in_place;
pub(crate) use recorded_gradients::check as recorded;
