//! Archives: their container, the data of their tensors, and files that are damaged or made to do harm.
#![deny(unsafe_code)]
#![expect(clippy::cast_possible_truncation, reason = "archives of tests are small")]

use kernels_cpu as _;

mod container;
mod damage;
mod golden_broken;
mod mapped;
mod sample_inputs;
mod state;
mod zip_builder;
