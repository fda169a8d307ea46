//! `scatter`: elements written at the positions of another tensor, or combined with the elements there.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Spec, wrap_dim};

use crate::{check_beside, check_index};

/// The way in which elements that meet become one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reduce {
    /// Their sum.
    Sum,
    /// Their mean.
    Mean,
    /// Their product.
    Product,
    /// The largest.
    Greatest,
    /// The smallest.
    Least,
}

/// A reduction along a dimension.
pub struct ReduceAt {
    /// The dimension.
    pub dim: usize,
    /// What becomes of elements that meet.
    pub reduce: Reduce,
}

impl ReduceAt {
    /// The plan of an operator whose `reduce` is one of these words.
    pub(crate) fn plan(
        this: &Tensor,
        Plan { value: dim, outputs }: Plan<usize>,
        reduce: &str,
        words: &[(&str, Reduce)],
    ) -> Result<Plan<Self>, BadArgument> {
        let Some(&(_, reduce)) = words.iter().find(|(word, _)| *word == reduce) else {
            let words: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
            return Err(BadArgument::value("reduce", reduce, format!("one of {}", words.join(", "))));
        };
        if this.dtype().is_complex() && matches!(reduce, Reduce::Greatest | Reduce::Least) {
            return Err(BadArgument::dtype("self", this.dtype(), DTypes::Real).because("complex numbers have no order"));
        }
        Ok(Plan { value: Self { dim, reduce }, outputs })
    }
}

const ADD_OR_MULTIPLY: &[(&str, Reduce)] = &[("add", Reduce::Sum), ("multiply", Reduce::Product)];

/// The tensor with the elements of `src` at the positions that `index` has along a dimension.
#[op_def("scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", plan, inplace, out = "src_out")]
pub fn scatter_src(_: ...) -> Result<Tensor>;

#[op_plan(scatter_src)]
fn scatter_src_plan(this: &Tensor, dim: i64, index: &Tensor, src: &Tensor) -> Result<Plan<usize>, BadArgument> {
    scattered(this, dim, index, Some(src))
}

/// The same with one number.
#[op_def("scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor", plan, inplace, out = "value_out")]
pub fn scatter_value(_: ...) -> Result<Tensor>;

#[op_plan(scatter_value)]
fn scatter_value_plan(this: &Tensor, dim: i64, index: &Tensor, value: Scalar) -> Result<Plan<usize>, BadArgument> {
    if index.geometry().count() > 0 {
        value.check_fits("value", this.dtype())?;
    }
    scattered(this, dim, index, None)
}

/// The tensor plus or times the elements of `src` at these positions.
#[op_def(
    "scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor",
    plan,
    inplace,
    out = "reduce_out"
)]
pub fn scatter_reduce(_: ...) -> Result<Tensor>;

#[op_plan(scatter_reduce)]
fn scatter_reduce_plan(_: ...) -> Result<Plan<ReduceAt>, BadArgument> {
    ReduceAt::plan(this, scattered(this, dim, index, Some(src))?, reduce, ADD_OR_MULTIPLY)
}

/// The same with one number.
#[op_def(
    "scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor",
    plan,
    inplace,
    out = "value_reduce_out"
)]
pub fn scatter_value_reduce(_: ...) -> Result<Tensor>;

#[op_plan(scatter_value_reduce)]
fn scatter_value_reduce_plan(_: ...) -> Result<Plan<ReduceAt>, BadArgument> {
    ReduceAt::plan(this, scatter_value_plan(this, dim, index, value)?, reduce, ADD_OR_MULTIPLY)
}

/// The tensor plus the elements of `src` at these positions.
#[op_def("scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", plan, inplace, out = "out")]
pub fn scatter_add(_: ...) -> Result<Tensor>;

#[op_plan(scatter_add)]
fn scatter_add_plan(this: &Tensor, dim: i64, index: &Tensor, src: &Tensor) -> Result<Plan<usize>, BadArgument> {
    scattered(this, dim, index, Some(src))
}

/// The tensor and the elements of `src` at these positions, reduced.
#[op_def(
    "scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True) -> Tensor",
    plan,
    inplace,
    out = "two_out"
)]
pub fn scatter_reduce_two(_: ...) -> Result<Tensor>;

#[op_plan(scatter_reduce_two)]
fn scatter_reduce_two_plan(_: ...) -> Result<Plan<ReduceAt>, BadArgument> {
    let words = [
        ("sum", Reduce::Sum),
        ("prod", Reduce::Product),
        ("mean", Reduce::Mean),
        ("amax", Reduce::Greatest),
        ("amin", Reduce::Least),
    ];
    ReduceAt::plan(this, scattered(this, dim, index, Some(src))?, reduce, &words)
}

/// The plan of [`scatter_src`] and operators like it. Its value is the dimension.
fn scattered(this: &Tensor, dim: i64, index: &Tensor, src: Option<&Tensor>) -> Result<Plan<usize>, BadArgument> {
    let at = wrap_dim("dim", dim, this.sizes().len())?;
    check_index("index", index)?;
    check_beside("index", index, this, Some(at))?;
    if let Some(src) = src {
        if src.dtype() != this.dtype() {
            return Err(BadArgument::dtype("src", src.dtype(), this.dtype()).like("self"));
        }
        check_beside("index", index, src, None)?;
    }
    Ok(Plan::new(at, [Spec::contiguous(this.dtype(), this.sizes())]))
}
