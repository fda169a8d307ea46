//! Images of other sizes.

mod grid_sample;
mod upsample;
