//! The same elements in another shape: views, copies, joins, pads.

mod blocks;
mod borders;
mod combinations;
mod copy;
mod expand;
mod join;
mod metadata;
mod pad;
mod pinned_memory;
mod pixel_shuffle;
mod reshape;
mod select;
mod split;
mod view_backward;
mod view_copies;

/// What the family brings to the crate. A file may be named as an operator, so this is a module of its own.
pub(crate) mod operators {
    pub use super::{
        blocks::*, borders::*, combinations::*, copy::*, expand::*, join::*, metadata::*, pad::*, pinned_memory::*,
        pixel_shuffle::*, reshape::*, select::*, split::*, view_backward::*, view_copies::*,
    };
}
