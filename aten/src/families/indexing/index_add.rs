//! Writes at the positions of a list along one dimension: `index_add`, `index_copy`, `index_fill` and `index_reduce`.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, Spec, wrap_dim};

use super::index::index_count;
use crate::{Reduce, ReduceAt, is_complex_number, sizes_or_one};

/// The tensor with one number at these positions of a dimension.
#[op_def(
    "index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
    plan,
    inplace,
    out = "int_Scalar_out"
)]
pub fn index_fill_int_scalar(_: ...) -> Result<Tensor>;

#[op_plan(index_fill_int_scalar)]
fn index_fill_int_scalar_plan(_: ...) -> Result<Plan<usize>, BadArgument> {
    if is_complex_number(value) && !this.dtype().is_complex() {
        return Err(BadArgument::value("value", value, format!("real, as `self` is of {}", this.dtype())));
    }
    value.check_fits("value", this.dtype())?;
    filled(this, dim, index)
}

/// The same with a number that is a tensor.
#[op_def(
    "index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor",
    plan,
    inplace,
    out = "int_Tensor_out"
)]
pub fn index_fill_int_tensor(_: ...) -> Result<Tensor>;

#[op_plan(index_fill_int_tensor)]
fn index_fill_int_tensor_plan(_: ...) -> Result<Plan<usize>, BadArgument> {
    crate::is_complex_scalar("value", value)?;
    filled(this, dim, index)
}

#[op_impl(index_fill_int_tensor, CompositeExplicitAutograd)]
fn index_fill_int_tensor_any(_plan: &usize, out: &mut Tensor, _: ...) -> Result<()> {
    index_fill_int_scalar_out(this, dim, index, crate::_local_scalar_dense(value)?, out)
}

/// The plan of an operator that fills positions of a dimension. Its value is the dimension.
fn filled(this: &Tensor, dim: i64, index: &Tensor) -> Result<Plan<usize>, BadArgument> {
    let at = wrap_dim("dim", dim, this.sizes().len())?;
    index_count(index)?;
    Ok(Plan::new(at, [Spec::like(this, this.dtype())]))
}

/// The tensor with the positions of `source` at these positions of a dimension.
#[op_def("index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor", plan, inplace, out = "out")]
pub fn index_copy(_: ...) -> Result<Tensor>;

#[op_plan(index_copy)]
fn index_copy_plan(this: &Tensor, dim: i64, index: &Tensor, source: &Tensor) -> Result<Plan<usize>, BadArgument> {
    with_source(this, dim, index, source)
}

/// The tensor plus `alpha` times the positions of `source` at these positions of a dimension.
#[op_def(
    "index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor",
    plan,
    inplace,
    out = "out"
)]
pub fn index_add(_: ...) -> Result<Tensor>;

/// A sum with multiples.
pub struct AddAt {
    /// The dimension that the positions are of.
    pub dim: usize,
    /// The factor of the source. The dtype holds it.
    pub alpha: Scalar,
}

#[op_plan(index_add)]
fn index_add_plan(_: ...) -> Result<Plan<AddAt>, BadArgument> {
    let Plan { value: dim, outputs } = with_source(this, dim, index, source)?;
    alpha.check_fits("alpha", this.dtype())?;
    Ok(Plan { value: AddAt { dim, alpha: alpha.cast(this.dtype()) }, outputs })
}

/// The tensor and the positions of `source` at these positions of a dimension, reduced.
#[op_def(
    "index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True) -> Tensor",
    plan,
    inplace,
    out = "out"
)]
pub fn index_reduce(_: ...) -> Result<Tensor>;

#[op_plan(index_reduce)]
fn index_reduce_plan(_: ...) -> Result<Plan<ReduceAt>, BadArgument> {
    // `index_add` makes sums.
    let words =
        [("prod", Reduce::Product), ("mean", Reduce::Mean), ("amax", Reduce::Greatest), ("amin", Reduce::Least)];
    ReduceAt::plan(this, with_source(this, dim, index, source)?, reduce, &words)
}

/// The plan of [`index_add`] and operators like it. Its value is the dimension.
fn with_source(this: &Tensor, dim: i64, index: &Tensor, source: &Tensor) -> Result<Plan<usize>, BadArgument> {
    let at = wrap_dim("dim", dim, this.sizes().len())?;
    let count = index_count(index)?;
    if source.dtype() != this.dtype() {
        return Err(BadArgument::dtype("source", source.dtype(), this.dtype()).like("self"));
    }
    let mut expected = Dims::from_slice(sizes_or_one(this));
    expected[at] = count;
    if *sizes_or_one(source) != expected[..] {
        return Err(BadArgument::sizes("source", source.sizes(), &expected[..])
            .because("`self` has, with a position for each of `index`"));
    }
    Ok(Plan::new(at, [Spec::contiguous(this.dtype(), this.sizes())]))
}
