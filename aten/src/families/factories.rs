//! Tensors out of nothing but sizes and numbers.

mod factory;
mod ranges;
mod sequence;
mod windows;

pub use factory::*;
pub use ranges::*;
pub use sequence::*;
pub use windows::*;
