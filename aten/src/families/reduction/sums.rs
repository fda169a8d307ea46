//! Sums, means and products, and counts of elements that are not zero.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Promotion, Reduced, wrap_dim};

use crate::prelude::*;

/// The sum of all elements.
#[op_def("sum(Tensor self, *, ScalarType? dtype=None) -> Tensor", shape = reduce, dtype = sum, out = "out")]
pub fn sum(_: ...) -> Result<Tensor>;

/// The sums over these dimensions; over all without any.
#[op_def(
    "sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    shape = reduce(dim), dtype = sum, out = "IntList_out"
)]
pub fn sum_dim_intlist(_: ...) -> Result<Tensor>;

/// The sums over these dimensions of what is a number.
#[op_def(
    "nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    shape = reduce(dim), dtype = sum, out = "out"
)]
pub fn nansum(_: ...) -> Result<Tensor>;

/// The mean of all elements.
#[op_def("mean(Tensor self, *, ScalarType? dtype=None) -> Tensor", plan, out = "dtype_out")]
pub fn mean(_: ...) -> Result<Tensor>;

/// The means over these dimensions; over all without any.
#[op_def(
    "mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    plan,
    out = "out"
)]
pub fn mean_dim(_: ...) -> Result<Tensor>;

#[op_plan(mean)]
fn mean_plan(this: &Tensor, dtype: Option<DType>) -> Result<Plan<Reduced>, BadArgument> {
    mean_dim_plan(this, None, false, dtype)
}

#[op_plan(mean_dim)]
pub(crate) fn mean_dim_plan(
    this: &Tensor,
    dim: Option<&[i64]>,
    keepdim: bool,
    dtype: Option<DType>,
) -> Result<Plan<Reduced>, BadArgument> {
    let computed = dtype.unwrap_or_else(|| this.dtype());
    if !computed.is_floating() && !computed.is_complex() {
        let argument = if dtype.is_some() { "dtype" } else { "self" };
        return Err(BadArgument::dtype(argument, computed, DTypes::FloatingOrComplex).because("a mean has a fraction"));
    }
    Reduced::plan(this, dim.unwrap_or(&[]), keepdim, computed)
}

/// The product of all elements.
#[op_def("prod(Tensor self, *, ScalarType? dtype=None) -> Tensor", shape = reduce, dtype = sum, out = "out")]
pub fn prod(_: ...) -> Result<Tensor>;

/// The products over a dimension.
#[op_def(
    "prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    shape = reduce(dim), dtype = sum, out = "int_out"
)]
pub fn prod_dim_int(_: ...) -> Result<Tensor>;

/// How many elements are not zero.
#[op_def("count_nonzero(Tensor self, int? dim=None) -> Tensor", shape = reduce(dim), dtype = index, out = "out")]
pub fn count_nonzero(_: ...) -> Result<Tensor>;

/// How many elements over these dimensions are not zero.
#[op_def(
    "count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor",
    shape = reduce(dim), dtype = index, out = "dim_IntList_out"
)]
pub fn count_nonzero_dim_intlist(_: ...) -> Result<Tensor>;

/// `log(sum(exp(self)))` over these dimensions, without overflow on the way.
#[op_def("logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor", shape = reduce(dim), dtype = float, out = "out")]
pub fn logsumexp(_: ...) -> Result<Tensor>;

/// The dtype that scans and sums of `this` have, unless another is asked for.
#[must_use]
pub fn sum_dtype(this: &Tensor, dtype: Option<DType>) -> DType {
    dtype.unwrap_or_else(|| Promotion::Sum.of(&[this]))
}

/// The dimension `dim` of `this`, by number.
///
/// # Errors
///
/// Where there is no such dimension.
pub fn one_dim(this: &Tensor, dim: i64) -> Result<usize, BadArgument> {
    wrap_dim("dim", dim, this.sizes().len())
}

/// The sum of the diagonal.
#[op_def("trace(Tensor self) -> Tensor", out = "out")]
pub fn trace(this: &Tensor) -> Result<Tensor> {
    if this.sizes().len() != 2 {
        return Err(BadArgument::rank("self", this.sizes().len(), 2).into());
    }
    sum(&crate::diagonal(this, 0, 0, 1)?, None)
}

/// The means over these dimensions of what is a number.
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
    let counted = this.isnan()?.logical_not()?.sum_dim_intlist(Some(dim.unwrap_or_default()), keepdim)?;
    nansum(this, dim, keepdim, dtype)? / counted
}
