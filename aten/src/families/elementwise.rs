//! One number for each number: arithmetic, comparisons, functions, activations, and the dtypes they compute in.

mod activation;
mod aliases;
mod arithmetic;
mod bounds;
mod choice;
mod closeness;
mod comparison;
mod complex_parts;
mod differences;
mod division;
mod dtypes;
mod gates;
mod gradients;
mod logic;
mod rounding;
mod special;
mod unary;

/// What the family brings to the crate. A file may be named as an operator, so this is a module of its own.
pub(crate) mod operators {
    pub use super::{
        activation::*, aliases::*, arithmetic::*, bounds::*, choice::*, closeness::*, comparison::*, complex_parts::*,
        differences::*, division::*, dtypes::*, gates::*, gradients::*, logic::*, rounding::*, special::*, unary::*,
    };
}
