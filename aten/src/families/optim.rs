//! Operators of optimisers: arithmetic on lists of tensors, optimiser steps in one pass over memory, and the scale of a loss in mixed
//! precision.

mod adagrad;
mod adam;
mod foreach_arithmetic;
mod foreach_copies;
mod foreach_unary;
mod fused_step;
mod loss_scale;
mod sgd;

/// The items that the crate re-exports at its root.
pub(crate) mod operators {
    pub use super::{
        adagrad::*, adam::*, foreach_arithmetic::*, foreach_copies::*, foreach_unary::*, loss_scale::*, sgd::*,
    };
}
