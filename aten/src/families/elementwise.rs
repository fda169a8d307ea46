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

pub use activation::*;
pub use aliases::*;
pub use arithmetic::*;
pub use bounds::*;
pub use choice::*;
pub use closeness::*;
pub use comparison::*;
pub use complex_parts::*;
pub use differences::*;
pub use division::*;
pub use dtypes::*;
pub use gates::*;
pub use gradients::*;
pub use logic::*;
pub use rounding::*;
pub use special::*;
pub use unary::*;
