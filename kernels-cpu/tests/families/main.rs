//! Kernels of several families, called as operators.
#![allow(clippy::float_cmp, reason = "kernels compute exactly what these say")]

// The kernels are tested.
use kernels_cpu as _;

mod batch_norm;
mod conv;
mod gather;
mod index;
mod join;
mod mask;
mod norm;
mod pads;
mod random;
mod scatter;
mod sort;
mod windows;
