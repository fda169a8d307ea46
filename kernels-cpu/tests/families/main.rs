//! Tests of kernels of several families, called as operators.
#![allow(clippy::float_cmp, reason = "the expected results are exact")]

// Links the kernels that are tested.
use kernels_cpu as _;

mod add_relu;
mod attention;
mod batch_norm;
mod channels_last;
mod complex_views;
mod conv;
mod decompositions;
mod fft;
mod gather;
mod glu_jvp;
mod gradients;
mod im2col;
mod index_select;
mod layer_norm_statistics;
mod lazy_views;
mod masked_select;
mod operators_over_lists;
mod pad;
mod random;
mod scatter;
mod set_storage;
mod sort;
mod spectra;
mod views;
