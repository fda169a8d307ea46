//! Tensors out of nothing but sizes and numbers.

mod constant;
mod matrix;
mod sequence;
mod window_functions;

/// What the family brings to the crate. A file may be named as an operator, so this is a module of its own.
pub(crate) mod operators {
    pub use super::{constant::*, matrix::*, sequence::*, window_functions::*};
}
