//! Checks of gradients, in double precision.

mod differentiated;
mod exceptions;
pub(crate) mod generated_calls;
mod in_place;
mod numeric;
mod recorded;

pub(crate) use differentiated::{cosine_cotangent, is_leaf};
pub(crate) use in_place::check as in_place;
pub(crate) use numeric::{check as numeric, pseudorandom_numbers};
pub(crate) use recorded::check as recorded;
