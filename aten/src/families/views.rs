//! Views, copies, concatenation and padding.

mod alias;
mod casts;
mod combinations;
mod copy;
mod diagonal;
mod expand;
mod gradient_state;
mod join;
mod metadata;
mod pad;
mod pinned_memory;
mod pixel_shuffle;
mod rearrange;
mod reshape;
mod resizing;
mod select;
mod set_storage;
mod split;
mod squeeze;
mod transpose;
mod view_backward;
mod view_copies;

/// The public items of the family. They are in a module of their own, as a file may have the name of an operator.
pub(crate) mod operators {
    pub use super::{
        alias::*, casts::*, combinations::*, copy::*, diagonal::*, expand::*, gradient_state::*, join::*, metadata::*,
        pad::*, pinned_memory::*, pixel_shuffle::*, rearrange::*, reshape::*, resizing::*, select::*, set_storage::*,
        split::*, squeeze::*, transpose::*, view_backward::*, view_copies::*,
    };
}
