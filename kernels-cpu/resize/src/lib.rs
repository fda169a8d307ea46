//! Images in other sizes, and sampled at a grid.

mod grid;
mod upsample;
