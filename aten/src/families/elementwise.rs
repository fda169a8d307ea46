//! One number for each number: arithmetic, comparisons, functions, activations, and the dtypes they compute in.

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

/// What the family brings to the crate. A file may be named as an operator, so this is a module of its own.
pub(crate) mod operators {
    pub use super::{
        activation::*, activation_backward::*, aliases::*, arithmetic::*, comparison::*, complex::*, conditional::*,
        division::*, dtypes::*, glu::*, logic::*, min_max::*, power::*, special::*, unary::*,
    };
}
