//! Argument checks that several operator families share.

mod arguments;
mod composites;
mod limits;
mod scalars;

pub(crate) use arguments::*;
pub(crate) use composites::*;
pub use limits::*;
pub use scalars::*;
