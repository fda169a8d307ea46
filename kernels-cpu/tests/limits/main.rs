//! Tests of the limits of numbers, sizes and memory.

use kernels_cpu as _;

mod boundary_values;
mod huge_sizes;
