//! Geometry helpers that several families share: views, images, and sliding windows over images.

mod images;
mod view;
mod window;

pub(crate) use images::*;
pub(crate) use view::*;
pub use window::*;
