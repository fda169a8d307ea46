//! Tensors out of nothing but sizes and numbers.

mod factory;
mod ranges;
mod sequence;
mod windows;

/// What the family brings to the crate. A file may be named as an operator, so this is a module of its own.
pub(crate) mod operators {
    pub use super::{factory::*, ranges::*, sequence::*, windows::*};
}
