//! `scatter`: elements written at the indices in an index tensor along one dimension, or combined with the elements there.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Spec, wrap_dim};

use crate::{check_beside, check_index};

/// The reduction of elements that are written to the same index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reduce {
    /// The sum of the elements.
    Sum,
    /// The mean of the elements.
    Mean,
    /// The product of the elements.
    Product,
    /// The largest element.
    Greatest,
    /// The smallest element.
    Least,
}

/// The plan of an operator that reduces elements into a tensor along one dimension.
pub struct ReduceAt {
    /// The indexed dimension.
    pub dim: usize,
    /// The reduction of elements with the same index.
    pub reduce: Reduce,
}

impl ReduceAt {
    /// Parses `reduce` as one of these names, and adds it to the plan of the operator. Refuses maxima and minima of complex numbers.
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

/// `self`, with the elements of `src` written at the indices in `index` along `dim`: for `dim` 0, `self[index[i][j]][j] = src[i][j]`.
#[op_def("scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", plan, inplace, out = "src_out")]
pub fn scatter_src(_: ...) -> Result<Tensor>;

#[op_plan(scatter_src)]
fn scatter_src_plan(this: &Tensor, dim: i64, index: &Tensor, src: &Tensor) -> Result<Plan<usize>, BadArgument> {
    scattered(this, dim, index, Some(src))
}

/// `self`, with the scalar `value` written at the indices in `index` along `dim`.
#[op_def("scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor", plan, inplace, out = "value_out")]
pub fn scatter_value(_: ...) -> Result<Tensor>;

#[op_plan(scatter_value)]
fn scatter_value_plan(this: &Tensor, dim: i64, index: &Tensor, value: Scalar) -> Result<Plan<usize>, BadArgument> {
    if index.geometry().count() > 0 {
        value.check_fits("value", this.dtype())?;
    }
    scattered(this, dim, index, None)
}

/// `self`, with the elements of `src` added or multiplied (as `reduce` says) at the indices in `index` along `dim`.
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

/// `self`, with the scalar `value` added or multiplied (as `reduce` says) at the indices in `index` along `dim`.
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

/// `self`, with the elements of `src` added at the indices in `index` along `dim`.
#[op_def("scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", plan, inplace, out = "out")]
pub fn scatter_add(_: ...) -> Result<Tensor>;

#[op_plan(scatter_add)]
fn scatter_add_plan(this: &Tensor, dim: i64, index: &Tensor, src: &Tensor) -> Result<Plan<usize>, BadArgument> {
    scattered(this, dim, index, Some(src))
}

/// `self`, with the elements of `src` combined into it by the reduction `reduce` at the indices in `index` along `dim`.
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

/// Checks the index and the source of a scatter operator, and returns its plan. The plan's value is the dimension.
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
