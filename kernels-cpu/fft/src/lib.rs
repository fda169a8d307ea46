//! CPU kernels of Fourier transforms.
//!
//! The crate rustfft transforms one line of complex numbers. This crate divides tensors into lines, caches the tables of each length, and
//! reduces transforms of real numbers to complex ones.

mod line_transform;
mod lines;
mod plan_cache;
mod real_lines;
mod transforms;
