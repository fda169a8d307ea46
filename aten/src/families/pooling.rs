//! One element for each window.

mod fractional;
mod lines;
mod pools;
mod unpooling;

pub use fractional::*;
pub use lines::*;
pub use pools::*;
pub use unpooling::*;
