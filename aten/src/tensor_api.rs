//! Tensors as people use them: made, converted, indexed, and asked.
//!
//! The runtime knows no operator, so what a tensor can do is in traits beside the operators that do it. Everything here calls
//! operators, and so goes through every layer; nothing here computes.

mod convert;
mod factories;
mod index;
mod options;

pub use convert::{Convert, Item};
pub use factories::Factories;
pub use index::{Ellipsis, Index, Indexing, Indices, NewAxis, Slice};
pub use options::{DefaultDevice, Options, default_device};
