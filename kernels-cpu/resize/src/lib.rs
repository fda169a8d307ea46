//! Images in other sizes, and sampled at a grid.

mod grid_sample;
mod upsample;
