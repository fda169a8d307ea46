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

/// What the family brings to the crate. A file may be named as an operator, so this is a module of its own.
pub(crate) mod operators {
    pub use super::{
        blocks::*, borders::*, copies::*, copying::*, extents::*, geometry::*, gradients::*, join::*, lists::*,
        pads::*, pinning::*, ranks::*, select::*, shuffles::*, splits::*,
    };
}
