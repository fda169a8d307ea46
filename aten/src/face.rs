//! Tensors as people use them: made, converted, indexed, and asked.
//!
//! The runtime knows no operator, so what a tensor can do is in traits beside the operators that do it. Everything here calls
//! operators, and so goes through every layer; nothing here computes.

mod fetch;
mod index;
mod make;
mod options;

pub use fetch::{Fetch, Item};
pub use index::{At, Ellipsis, Index, Indices, NewAxis, Slice};
pub use make::Make;
pub use options::{DefaultDevice, Options, default_device};
