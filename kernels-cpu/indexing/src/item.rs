//! The kernel that reads the value of a tensor with one element.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Geometry};

#[op_impl(aten::_local_scalar_dense, CPU)]
fn local_scalar_dense(this: &Tensor) -> Result<Scalar> {
    if this.geometry().count() == 0 {
        return Err(BadArgument::element_count("self", this.sizes(), 1..).into());
    }
    // Reads the first element of a tensor of any sizes.
    let first = Geometry::strided(&[], &[], this.geometry().offset()).unwrap_or_else(|| this.geometry().clone());
    Ok(this.restride(first)?.to_scalar()?)
}
