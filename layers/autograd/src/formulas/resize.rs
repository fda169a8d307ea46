//! Gradient formulas of image resizing and grid sampling.

mod grid_sample;
mod upsample;
