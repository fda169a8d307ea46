//! Elements put where another tensor, or a view, says.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Geometry, Spec, wrap_dim};

use crate::{as_strided, check_beside, check_index, copy_, diagonal, select_int, slice};

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

/// The tensor with `src` in place of what [`select_int`](crate::select_int) shows.
#[op_def("select_scatter(Tensor self, Tensor src, int dim, SymInt index) -> Tensor", plan, out = "out")]
pub fn select_scatter(_: ...) -> Result<Tensor>;

#[op_plan(select_scatter)]
fn select_scatter_plan(this: &Tensor, src: &Tensor, dim: i64, index: i64) -> Result<Plan<()>> {
    replaced(this, &select_int(this, dim, index)?, src)
}

#[op_impl(select_scatter, CompositeExplicitAutograd)]
fn select_scatter_any(_plan: &(), out: &mut Tensor, this: &Tensor, src: &Tensor, dim: i64, index: i64) -> Result<()> {
    copy_(out, this, false)?;
    copy_(&mut select_int(out, dim, index)?, src, false)
}

/// The tensor with `src` in place of what [`slice`](crate::slice) shows.
#[op_def(
    "slice_scatter(Tensor self, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor",
    plan,
    out = "out"
)]
pub fn slice_scatter(_: ...) -> Result<Tensor>;

#[op_plan(slice_scatter)]
fn slice_scatter_plan(_: ...) -> Result<Plan<()>> {
    replaced(this, &slice(this, dim, start, end, step)?, src)
}

#[op_impl(slice_scatter, CompositeExplicitAutograd)]
fn slice_scatter_any(_plan: &(), out: &mut Tensor, _: ...) -> Result<()> {
    copy_(out, this, false)?;
    copy_(&mut slice(out, dim, start, end, step)?, src, false)
}

/// The tensor with `src` in place of what [`diagonal`](crate::diagonal) shows.
#[op_def(
    "diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor",
    plan,
    out = "out"
)]
pub fn diagonal_scatter(_: ...) -> Result<Tensor>;

#[op_plan(diagonal_scatter)]
fn diagonal_scatter_plan(this: &Tensor, src: &Tensor, offset: i64, dim1: i64, dim2: i64) -> Result<Plan<()>> {
    replaced(this, &diagonal(this, offset, dim1, dim2)?, src)
}

#[op_impl(diagonal_scatter, CompositeExplicitAutograd)]
fn diagonal_scatter_any(_plan: &(), out: &mut Tensor, _: ...) -> Result<()> {
    copy_(out, this, false)?;
    copy_(&mut diagonal(out, offset, dim1, dim2)?, src, false)
}

/// The tensor with `src` in place of what [`as_strided`](crate::as_strided) shows.
#[op_def(
    "as_strided_scatter(Tensor self, Tensor src, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor",
    plan,
    out = "out"
)]
pub fn as_strided_scatter(_: ...) -> Result<Tensor>;

#[op_plan(as_strided_scatter)]
fn as_strided_scatter_plan(_: ...) -> Result<Plan<Geometry>> {
    let part = as_strided(this, size, stride, storage_offset)?;
    let Plan { outputs, .. } = replaced(this, &part, src)?;
    Ok(Plan { value: part.geometry().clone(), outputs })
}

#[op_impl(as_strided_scatter, CompositeExplicitAutograd)]
fn as_strided_scatter_any(plan: &Geometry, out: &mut Tensor, this: &Tensor, src: &Tensor) -> Result<()> {
    let bytes = i64::try_from(this.storage().size()).unwrap_or(i64::MAX);
    let all = Geometry::contiguous(&[bytes / i64::try_from(this.dtype().size()).unwrap_or(1)]);
    // The view may show what `this` does not, so all of the memory is copied.
    let memory = crate::clone(&this.restride(all)?, None)?;
    copy_(&mut memory.restride(plan.clone())?, src, false)?;
    copy_(out, &memory.restride(this.geometry().clone())?, false)
}

/// The plan of an operator that replaces `part`, a view of `this`: the same strides, unless elements share memory.
fn replaced(this: &Tensor, part: &Tensor, src: &Tensor) -> Result<Plan<()>> {
    if src.sizes() != part.sizes() {
        return Err(BadArgument::sizes("src", src.sizes(), part.sizes())
            .because("the part that it replaces has")
            .into());
    }
    let own = this.geometry();
    let shared = own.sizes().iter().zip(own.strides()).any(|(&size, &stride)| size > 1 && stride == 0);
    let same = Geometry::strided(own.sizes(), own.strides(), 0).filter(|_| !shared);
    let geometry = same.unwrap_or_else(|| Geometry::contiguous(own.sizes()));
    Ok(Plan::new((), [Spec { dtype: this.dtype(), geometry }]))
}
