//! Tests that the suite finds mistakes of kernels of `aten`. They are a program of their own, because they replace kernels of the backend.

mod large;
mod numbers;

use kernels_cpu as _;
