//! Gradients, all in double precision.

mod differentiated;
mod in_place;
mod recorded;

pub(crate) use in_place::check as in_place;
pub(crate) use recorded::check as recorded;
