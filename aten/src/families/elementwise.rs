//! Elementwise operators: arithmetic, comparisons, functions, activations, and queries about dtypes.

mod activation;
mod activation_backward;
mod aliases;
mod arithmetic;
mod comparison;
mod complex;
mod conditional;
mod division;
mod dtypes;
mod glu;
mod logic;
mod min_max;
mod power;
mod special;
mod unary;

/// The items that the crate re-exports at its root. They need a separate module, because a file may have the name of an operator.
pub(crate) mod operators {
    pub use super::{
        activation::*, activation_backward::*, aliases::*, arithmetic::*, comparison::*, complex::*, conditional::*,
        division::*, dtypes::*, glu::*, logic::*, min_max::*, power::*, special::*, unary::*,
    };
}
