//! Diagrams of training runs as PNG files, for the examples.

pub(crate) mod curves;
mod font;
pub(crate) mod picture;
