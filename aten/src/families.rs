//! Operator definitions, one module for each family of operators.
//!
//! The families of the first list call one another and are always built. Each of the others is a Cargo feature.

pub(super) mod assertions;
pub(super) mod elementwise;
pub(super) mod factories;
pub(super) mod indexing;
pub(super) mod reduction;
pub(super) mod views;

#[cfg(feature = "attention")]
pub(super) mod attention;
#[cfg(feature = "conv")]
pub(super) mod conv;
#[cfg(feature = "fft")]
pub(super) mod fft;
#[cfg(feature = "linalg")]
pub(super) mod linalg;
#[cfg(feature = "loss")]
pub(super) mod loss;
#[cfg(feature = "norm")]
pub(super) mod norm;
#[cfg(feature = "optim")]
pub(super) mod optim;
#[cfg(feature = "pooling")]
pub(super) mod pooling;
#[cfg(feature = "products")]
pub(super) mod products;
#[cfg(feature = "quantized")]
pub(super) mod quantized;
#[cfg(feature = "random")]
pub(super) mod random;
#[cfg(feature = "recurrent")]
pub(super) mod recurrent;
#[cfg(feature = "resize")]
pub(super) mod resize;
#[cfg(feature = "sort")]
pub(super) mod sort;
