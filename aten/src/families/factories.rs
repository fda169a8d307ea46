//! Factory operators: new tensors from sizes and scalars.

mod constant;
mod file;
mod matrix;
mod sequence;
mod window_functions;

/// The items that the crate re-exports at its root. They need a separate module, because a file may have the name of an operator.
pub(crate) mod operators {
    pub use super::{constant::*, file::*, matrix::*, sequence::*, window_functions::*};
}
