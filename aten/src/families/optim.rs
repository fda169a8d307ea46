//! Operators of optimisers: arithmetic on lists of tensors, optimiser steps in one pass over memory, and the scale of a loss in mixed
//! precision.

mod foreach_arithmetic;
mod foreach_copies;
mod foreach_unary;

/// The items that the crate re-exports at its root.
pub(crate) mod operators {
    pub use super::{foreach_arithmetic::*, foreach_copies::*, foreach_unary::*};
}
