//! Tensor methods of the user API: factories, conversion, indexing and reading of elements.
//!
//! The runtime knows no operator, so these methods are extension traits in the operators' crate. Every method here calls operators, and so
//! goes through every layer. Nothing here computes.

mod convert;
mod factories;
mod index;
mod int_list;
mod options;

pub use convert::{Convert, ItemType};
pub use factories::Factories;
pub use index::{Ellipsis, Index, Indexing, Indices, IntoIndex, NewAxis, Slice};
pub use int_list::IntList;
pub use options::{DefaultDeviceGuard, IntoOptions, TensorOptions, set_default_device};
