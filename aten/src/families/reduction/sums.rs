//! Sums, means, products, and counts of nonzero elements.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Promotion, ReductionDims};

use crate::prelude::*;

/// Computes the sum of all elements.
#[op_def("sum(Tensor self, *, ScalarType? dtype=None) -> Tensor", shape = reduce, dtype = sum, out = "out")]
pub fn sum(_: ...) -> Result<Tensor>;

/// Computes the sums over dimensions, or over all if `dim` is empty or absent.
#[op_def(
    "sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    shape = reduce(dim), dtype = sum, out = "IntList_out"
)]
pub fn sum_dim_intlist(_: ...) -> Result<Tensor>;

/// Computes the sums over dimensions of the elements that are not NaN.
#[op_def(
    "nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    shape = reduce(dim), dtype = sum, out = "out"
)]
pub fn nansum(_: ...) -> Result<Tensor>;

/// Computes the mean of all elements.
#[op_def("mean(Tensor self, *, ScalarType? dtype=None) -> Tensor", plan, out = "dtype_out")]
pub fn mean(_: ...) -> Result<Tensor>;

/// Computes the means over dimensions, or over all if `dim` is empty or absent.
#[op_def(
    "mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    plan,
    out = "out"
)]
pub fn mean_dim(_: ...) -> Result<Tensor>;

#[op_plan(mean)]
fn mean_plan(this: &Tensor, dtype: Option<DType>) -> Result<Plan<ReductionDims>, BadArgument> {
    mean_dim_plan(this, None, false, dtype)
}

#[op_plan(mean_dim)]
pub(crate) fn mean_dim_plan(
    this: &Tensor,
    dim: Option<&[i64]>,
    keepdim: bool,
    dtype: Option<DType>,
) -> Result<Plan<ReductionDims>, BadArgument> {
    let computed = dtype.unwrap_or_else(|| this.dtype());
    if !computed.is_floating() && !computed.is_complex() {
        let argument = if dtype.is_some() { "dtype" } else { "self" };
        return Err(BadArgument::dtype(argument, computed, DTypes::FloatingOrComplex).because("a mean has a fraction"));
    }
    ReductionDims::plan(this, dim.unwrap_or(&[]), keepdim, computed)
}

/// Computes the product of all elements.
#[op_def("prod(Tensor self, *, ScalarType? dtype=None) -> Tensor", shape = reduce, dtype = sum, out = "out")]
pub fn prod(_: ...) -> Result<Tensor>;

/// Computes the products along a dimension.
#[op_def(
    "prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    shape = reduce(dim), dtype = sum, out = "int_out"
)]
pub fn prod_dim_int(_: ...) -> Result<Tensor>;

/// Counts the nonzero elements, along a dimension or in all.
#[op_def("count_nonzero(Tensor self, int? dim=None) -> Tensor", shape = reduce(dim), dtype = index, out = "out")]
pub fn count_nonzero(_: ...) -> Result<Tensor>;

/// Counts the nonzero elements over dimensions.
#[op_def(
    "count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor",
    shape = reduce(dim), dtype = index, out = "dim_IntList_out"
)]
pub fn count_nonzero_dim_intlist(_: ...) -> Result<Tensor>;

/// Computes `log(sum(exp(self)))` over dimensions, without intermediate overflow.
#[op_def("logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor", shape = reduce(dim), dtype = float, out = "out")]
pub fn logsumexp(_: ...) -> Result<Tensor>;

/// Returns the dtype of sums and scans of `this`: `dtype` if it is given, otherwise the promoted dtype.
#[must_use]
pub fn sum_dtype(this: &Tensor, dtype: Option<DType>) -> DType {
    dtype.unwrap_or_else(|| Promotion::Sum.result_dtype(&[this]))
}

/// Computes the sum of the diagonal.
#[op_def("trace(Tensor self) -> Tensor", out = "out")]
pub fn trace(this: &Tensor) -> Result<Tensor> {
    if this.sizes().len() != 2 {
        return Err(BadArgument::rank("self", this.sizes().len(), 2).into());
    }
    sum(&crate::diagonal(this, 0, 0, 1)?, None)
}

/// Computes the means over dimensions of the elements that are not NaN.
#[op_def(
    "nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    out = "out"
)]
pub fn nanmean(this: &Tensor, dim: Option<&[i64]>, keepdim: bool, dtype: Option<DType>) -> Result<Tensor> {
    if !this.dtype().is_floating() && !this.dtype().is_complex() {
        return Err(BadArgument::dtype("self", this.dtype(), DTypes::FloatingOrComplex)
            .because("a mean has a fraction")
            .into());
    }
    let counts = sum_dim_intlist(&this.isnan()?.logical_not()?, Some(dim.unwrap_or_default()), keepdim, None)?;
    nansum(this, dim, keepdim, dtype)? / counts
}
