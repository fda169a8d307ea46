//! An operator crate: definitions without kernels.
#![forbid(unsafe_code)]

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Spec};

/// Multiplies two tensors elementwise.
#[op_def("mymul(Tensor self, Tensor other) -> Tensor")]
pub fn mymul(this: &Tensor, other: &Tensor) -> Result<Tensor>;

/// Multiplies a tensor by a number, in place.
#[op_def("scale_(Tensor(a!) self, Scalar by) -> Tensor(a!)")]
pub fn scale_(this: &mut Tensor, by: Scalar) -> Result<()>;

/// Multiplies a tensor with itself. It is a composite, so no backend needs a kernel for it.
#[op_def("square(Tensor self) -> Tensor")]
pub fn square(this: &Tensor) -> Result<Tensor> {
    mymul(this, this)
}

/// Divides each row of a matrix by its sum. The plan below is its contract on every backend.
#[op_def("normalize_rows(Tensor self) -> Tensor", plan, inplace, out = "out")]
pub fn normalize_rows(this: &Tensor) -> Result<Tensor>;

/// The value of the plan of [`normalize_rows`], which kernels get.
pub struct NormalizeRowsPlan {
    /// The number of elements in a row.
    pub columns: usize,
}

#[op_plan(normalize_rows)]
fn normalize_rows_plan(this: &Tensor) -> Result<Plan<NormalizeRowsPlan>, BadArgument> {
    let &[_, columns] = this.sizes() else {
        return Err(BadArgument::rank("self", this.sizes().len(), 2));
    };
    if this.dtype() != DType::F32 {
        return Err(BadArgument::dtype("self", this.dtype(), DType::F32));
    }
    let rows = NormalizeRowsPlan { columns: usize::try_from(columns).unwrap_or(0) };
    Ok(Plan::new(rows, [Spec::contiguous(DType::F32, this.sizes())]))
}
