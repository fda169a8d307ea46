//! What families share: checks of arguments, and geometries.

mod agreement;
mod checks;
mod draws;
mod images;
mod limits;
mod numbers;
mod shape;
mod window;

pub(crate) use agreement::*;
pub(crate) use checks::*;
pub use draws::*;
pub(crate) use images::*;
pub use limits::*;
pub use numbers::*;
pub(crate) use shape::*;
pub use window::*;
