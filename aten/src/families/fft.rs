//! Fourier transforms: of one or several dimensions, of real and complex numbers, and of windows of a signal.

mod arguments;
mod frequencies;
mod many_dims;
mod one_dim;
mod short_time;
mod transforms;

/// The public items of the family. They are in a module of their own, as a file may have the name of an operator.
pub(crate) mod operators {
    pub use super::{frequencies::*, many_dims::*, one_dim::*, short_time::*, transforms::*};
}
