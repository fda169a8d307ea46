//! Checks of gradients, in double precision.

mod differentiated;
mod exceptions;
mod in_place;
pub(crate) mod made_calls;
mod numeric;
mod recorded;

pub(crate) use differentiated::{cosines, is_leaf};
pub(crate) use in_place::check as in_place;
pub(crate) use numeric::{check as numeric, numbers};
pub(crate) use recorded::check as recorded;
