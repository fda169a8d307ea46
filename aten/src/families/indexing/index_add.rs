//! Writes at a list of indices along one dimension: `index_add`, `index_copy`, `index_fill` and `index_reduce`.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, Spec, wrap_dim};

use super::index::index_vector_length;
use super::scatter::NAMED_REDUCTIONS;
use crate::{ScatterReducePlan, is_complex_scalar, sizes_or_one};

/// `self`, with the scalar `value` written at the indices `index` of the dimension `dim`.
#[op_def(
    "index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
    plan,
    inplace,
    out = "int_Scalar_out"
)]
pub fn index_fill_int_scalar(_: ...) -> Result<Tensor>;

#[op_plan(index_fill_int_scalar)]
fn index_fill_int_scalar_plan(_: ...) -> Result<Plan<usize>, BadArgument> {
    if is_complex_scalar(value) && !this.dtype().is_complex() {
        return Err(BadArgument::value("value", value, format!("a real number, as `self` is of {}", this.dtype())));
    }
    value.check_fits("value", this.dtype())?;
    index_fill_plan(this, dim, index)
}

/// `self`, with `value`, a tensor of one element, written at the indices `index` of the dimension `dim`.
#[op_def(
    "index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor",
    plan,
    inplace,
    out = "int_Tensor_out"
)]
pub fn index_fill_int_tensor(_: ...) -> Result<Tensor>;

#[op_plan(index_fill_int_tensor)]
fn index_fill_int_tensor_plan(_: ...) -> Result<Plan<usize>, BadArgument> {
    crate::check_0d_tensor("value", value)?;
    index_fill_plan(this, dim, index)
}

#[op_impl(index_fill_int_tensor, CompositeExplicitAutograd)]
fn index_fill_int_tensor_composite(_plan: &usize, out: &mut Tensor, _: ...) -> Result<()> {
    index_fill_int_scalar_out(this, dim, index, crate::_local_scalar_dense(value)?, out)
}

/// Returns the plan of `index_fill`. The plan's value is the dimension.
fn index_fill_plan(this: &Tensor, dim: i64, index: &Tensor) -> Result<Plan<usize>, BadArgument> {
    let at = wrap_dim("dim", dim, this.sizes().len())?;
    index_vector_length(index)?;
    Ok(Plan::new(at, [Spec::like(this, this.dtype())]))
}

/// `self`, with `source` written at the indices `index` of the dimension `dim`.
#[op_def("index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor", plan, inplace, out = "out")]
pub fn index_copy(_: ...) -> Result<Tensor>;

#[op_plan(index_copy)]
fn index_copy_plan(this: &Tensor, dim: i64, index: &Tensor, source: &Tensor) -> Result<Plan<usize>, BadArgument> {
    indexed_write_plan(this, dim, index, source)
}

/// `self`, with `alpha * source` added at the indices `index` of the dimension `dim`.
#[op_def(
    "index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor",
    plan,
    inplace,
    out = "out"
)]
pub fn index_add(_: ...) -> Result<Tensor>;

/// The plan of [`index_add`].
pub struct IndexAddPlan {
    /// The indexed dimension.
    pub dim: usize,
    /// The factor of `source`, already cast to the dtype of `self`.
    pub alpha: Scalar,
}

#[op_plan(index_add)]
fn index_add_plan(_: ...) -> Result<Plan<IndexAddPlan>, BadArgument> {
    let Plan { value: dim, outputs } = indexed_write_plan(this, dim, index, source)?;
    alpha.check_fits("alpha", this.dtype())?;
    Ok(Plan { value: IndexAddPlan { dim, alpha: alpha.cast(this.dtype()) }, outputs })
}

/// `self`, with `source` combined into it by the reduction `reduce` at the indices `index` of the dimension `dim`.
#[op_def(
    "index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True) -> Tensor",
    plan,
    inplace,
    out = "out"
)]
pub fn index_reduce(_: ...) -> Result<Tensor>;

#[op_plan(index_reduce)]
fn index_reduce_plan(_: ...) -> Result<Plan<ScatterReducePlan>, BadArgument> {
    ScatterReducePlan::with_reduction(
        this,
        indexed_write_plan(this, dim, index, source)?,
        reduce,
        &NAMED_REDUCTIONS[1..],
    )
}

/// Returns the plan of an operator that writes a `source` at indices of a dimension. The plan's value is the dimension.
fn indexed_write_plan(this: &Tensor, dim: i64, index: &Tensor, source: &Tensor) -> Result<Plan<usize>, BadArgument> {
    let at = wrap_dim("dim", dim, this.sizes().len())?;
    let count = index_vector_length(index)?;
    if source.dtype() != this.dtype() {
        return Err(BadArgument::dtype("source", source.dtype(), this.dtype()).like("self"));
    }
    let mut expected = Dims::from_slice(sizes_or_one(this));
    expected[at] = count;
    if *sizes_or_one(source) != expected[..] {
        return Err(BadArgument::sizes("source", source.sizes(), &expected[..])
            .because("`self` has, with one position for each element of `index`"));
    }
    Ok(Plan::new(at, [Spec::contiguous(this.dtype(), this.sizes())]))
}
