//! `scatter`: elements written at the indices in an index tensor along one dimension, or combined with the elements there.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Spec, wrap_dim};

use crate::words::impl_words;
use crate::{check_index_dtype, check_index_sizes};

/// The reduction of elements that are written to the same index.
///
/// ```
/// assert_eq!("amax".parse(), Ok(aten::ReductionType::Max));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReductionType {
    /// The sum of the elements.
    Sum,
    /// The mean of the elements.
    Mean,
    /// The product of the elements.
    Product,
    /// The largest element.
    Max,
    /// The smallest element.
    Min,
}

impl_words! { ReductionType, "reduce": Sum = "sum", Mean = "mean", Product = "prod", Max = "amax" | "max", Min = "amin" | "min", }

/// The plan of an operator that reduces elements into a tensor along one dimension.
pub struct ScatterReducePlan {
    /// The indexed dimension.
    pub dim: usize,
    /// The reduction of elements with the same index.
    pub reduce: ReductionType,
}

impl ScatterReducePlan {
    /// Parses `reduce` as one of `names`, and adds it to the plan of a scatter operator. Refuses maxima and minima of complex numbers.
    pub(crate) fn with_reduction(
        this: &Tensor,
        Plan { value: dim, outputs }: Plan<usize>,
        reduce: &str,
        names: &[(&str, ReductionType)],
    ) -> Result<Plan<Self>, BadArgument> {
        let Some(&(_, reduce)) = names.iter().find(|(name, _)| *name == reduce) else {
            let names: Vec<String> = names.iter().map(|(name, _)| format!("`{name}`")).collect();
            return Err(BadArgument::value("reduce", reduce, format!("one of {}", names.join(", "))));
        };
        if this.dtype().is_complex() && matches!(reduce, ReductionType::Max | ReductionType::Min) {
            return Err(BadArgument::dtype("self", this.dtype(), DTypes::Real).because("complex numbers have no order"));
        }
        Ok(Plan { value: Self { dim, reduce }, outputs })
    }
}

/// The reductions of `scatter_reduce`. `index_reduce` has all except the first, because `index_add` computes sums.
pub(super) const NAMED_REDUCTIONS: &[(&str, ReductionType)] = &[
    ("sum", ReductionType::Sum),
    ("prod", ReductionType::Product),
    ("mean", ReductionType::Mean),
    ("amax", ReductionType::Max),
    ("amin", ReductionType::Min),
];

const ADD_OR_MULTIPLY: &[(&str, ReductionType)] = &[("add", ReductionType::Sum), ("multiply", ReductionType::Product)];

/// `self`, with the elements of `src` written at the indices in `index` along `dim`: for `dim` 0, `self[index[i][j]][j] = src[i][j]`.
#[op_def("scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", plan, inplace, out = "src_out")]
pub fn scatter_src(_: ...) -> Result<Tensor>;

#[op_plan(scatter_src)]
fn scatter_src_plan(this: &Tensor, dim: i64, index: &Tensor, src: &Tensor) -> Result<Plan<usize>, BadArgument> {
    scatter_plan(this, dim, index, Some(src))
}

/// `self`, with the scalar `value` written at the indices in `index` along `dim`.
#[op_def("scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor", plan, inplace, out = "value_out")]
pub fn scatter_value(_: ...) -> Result<Tensor>;

#[op_plan(scatter_value)]
fn scatter_value_plan(this: &Tensor, dim: i64, index: &Tensor, value: Scalar) -> Result<Plan<usize>, BadArgument> {
    if index.geometry().count() > 0 {
        value.check_fits("value", this.dtype())?;
    }
    scatter_plan(this, dim, index, None)
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
fn scatter_reduce_plan(_: ...) -> Result<Plan<ScatterReducePlan>, BadArgument> {
    ScatterReducePlan::with_reduction(this, scatter_plan(this, dim, index, Some(src))?, reduce, ADD_OR_MULTIPLY)
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
fn scatter_value_reduce_plan(_: ...) -> Result<Plan<ScatterReducePlan>, BadArgument> {
    ScatterReducePlan::with_reduction(this, scatter_value_plan(this, dim, index, value)?, reduce, ADD_OR_MULTIPLY)
}

/// `self`, with the elements of `src` added at the indices in `index` along `dim`.
#[op_def("scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", plan, inplace, out = "out")]
pub fn scatter_add(_: ...) -> Result<Tensor>;

#[op_plan(scatter_add)]
fn scatter_add_plan(this: &Tensor, dim: i64, index: &Tensor, src: &Tensor) -> Result<Plan<usize>, BadArgument> {
    scatter_plan(this, dim, index, Some(src))
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
fn scatter_reduce_two_plan(_: ...) -> Result<Plan<ScatterReducePlan>, BadArgument> {
    ScatterReducePlan::with_reduction(this, scatter_plan(this, dim, index, Some(src))?, reduce, NAMED_REDUCTIONS)
}

/// Checks the index and the source of a scatter operator, and returns its plan. The plan's value is the dimension.
fn scatter_plan(this: &Tensor, dim: i64, index: &Tensor, src: Option<&Tensor>) -> Result<Plan<usize>, BadArgument> {
    let at = wrap_dim("dim", dim, this.sizes().len())?;
    check_index_dtype("index", index)?;
    check_index_sizes("index", index, this, Some(at))?;
    if let Some(src) = src {
        if src.dtype() != this.dtype() {
            return Err(BadArgument::dtype("src", src.dtype(), this.dtype()).like("self"));
        }
        check_index_sizes("index", index, src, None)?;
    }
    Ok(Plan::new(at, [Spec::contiguous(this.dtype(), this.sizes())]))
}
