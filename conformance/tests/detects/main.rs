//! Tests that the suite finds mistakes: each module defines operators with mistakes, and runs the checks that must find them.

mod batches;
mod calls;
mod derived_calls;
mod gradients;

use kernels_cpu as _;
