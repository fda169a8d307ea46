//! The same elements in another shape: views, copies, joins, pads.

mod blocks;
mod borders;
mod copies;
mod copying;
mod extents;
mod geometry;
mod gradients;
mod join;
mod lists;
mod pads;
mod pinning;
mod ranks;
mod select;
mod shuffles;
mod splits;

pub use blocks::*;
pub use borders::*;
pub use copies::*;
pub use copying::*;
pub use extents::*;
pub use geometry::*;
pub use gradients::*;
pub use join::*;
pub use lists::*;
pub use pads::*;
pub use pinning::*;
pub use ranks::*;
pub use select::*;
pub use shuffles::*;
pub use splits::*;
