//! Argument checks that several operator families share.

mod composites;
mod device_and_gradient;
mod limits;
mod scalars;

pub(crate) use composites::*;
pub(crate) use device_and_gradient::*;
pub use limits::*;
#[cfg(feature = "products")]
pub(crate) use scalars::accumulate_dtype;
pub use scalars::*;
