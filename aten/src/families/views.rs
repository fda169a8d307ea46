//! The same elements in another shape: views, copies, joins, pads.

mod alias;
mod combinations;
mod copy;
mod diagonal;
mod expand;
mod join;
mod metadata;
mod pad;
mod pinned_memory;
mod pixel_shuffle;
mod rearrange;
mod reshape;
mod select;
mod split;
mod squeeze;
mod transpose;
mod view_backward;
mod view_copies;

/// What the family brings to the crate. A file may be named as an operator, so this is a module of its own.
pub(crate) mod operators {
    pub use super::{
        alias::*, combinations::*, copy::*, diagonal::*, expand::*, join::*, metadata::*, pad::*, pinned_memory::*,
        pixel_shuffle::*, rearrange::*, reshape::*, select::*, split::*, squeeze::*, transpose::*, view_backward::*,
        view_copies::*,
    };
}
