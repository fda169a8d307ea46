//! Norms of differences.

use dispatch_runtime::prelude::*;

use crate::{linalg_vector_norm, sub};

/// The norm of the difference.
#[op_def("dist(Tensor self, Tensor other, Scalar p=2) -> Tensor", out = "out")]
pub fn dist(this: &Tensor, other: &Tensor, p: Scalar) -> Result<Tensor> {
    linalg_vector_norm(&sub(this, other, Scalar::Int(1))?, p, None, false, None)
}
