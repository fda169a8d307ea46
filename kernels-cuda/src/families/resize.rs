//! CUDA kernels of image resizing and of `grid_sample`.

mod grid_sample;
mod upsample;
