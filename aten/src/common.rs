//! What families share: checks of arguments, and geometries.

mod checks;
mod images;
mod limits;
mod numbers;
mod shape;
mod window;

pub(crate) use checks::*;
pub(crate) use images::*;
pub use limits::*;
pub use numbers::*;
pub(crate) use shape::*;
pub use window::*;
