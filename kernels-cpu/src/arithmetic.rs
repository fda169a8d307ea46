//! Elementwise arithmetic of two operands.

use dispatch_runtime::{Complex32, Complex64, Scalar};

use crate::compute::Compute;
use crate::elementwise::elementwise;

elementwise! {
    add add_ add_out [f32 f64 i64 Complex32 Complex64] (this, other; alpha: Scalar) => |[a, b]| a.plus(b.times(alpha));
}
