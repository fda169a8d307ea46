//! Copies of a tensor in which the elements of one view are replaced: `select_scatter`, `slice_scatter`, `diagonal_scatter` and others.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Geometry, Spec};

use crate::{as_strided, copy_, diagonal, select_int, slice};

/// A copy of `self` in which `src` replaces the view that [`select_int`](crate::select_int) returns.
#[op_def("select_scatter(Tensor self, Tensor src, int dim, SymInt index) -> Tensor", plan, float8, out = "out")]
pub fn select_scatter(_: ...) -> Result<Tensor>;

#[op_plan(select_scatter)]
fn select_scatter_plan(this: &Tensor, src: &Tensor, dim: i64, index: i64) -> Result<Plan<()>> {
    view_scatter_plan(this, &select_int(this, dim, index)?, src)
}

#[op_impl(select_scatter, CompositeExplicitAutograd)]
fn select_scatter_composite(
    _plan: &(),
    out: &mut Tensor,
    this: &Tensor,
    src: &Tensor,
    dim: i64,
    index: i64,
) -> Result<()> {
    copy_(out, this, false)?;
    copy_(&mut select_int(out, dim, index)?, src, false)
}

/// A copy of `self` in which `src` replaces the view that [`slice`](crate::slice) returns.
#[op_def(
    "slice_scatter(Tensor self, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor",
    plan,
    float8,
    out = "out"
)]
pub fn slice_scatter(_: ...) -> Result<Tensor>;

#[op_plan(slice_scatter)]
fn slice_scatter_plan(_: ...) -> Result<Plan<()>> {
    view_scatter_plan(this, &slice(this, dim, start, end, step)?, src)
}

#[op_impl(slice_scatter, CompositeExplicitAutograd)]
fn slice_scatter_composite(_plan: &(), out: &mut Tensor, _: ...) -> Result<()> {
    copy_(out, this, false)?;
    copy_(&mut slice(out, dim, start, end, step)?, src, false)
}

/// A copy of `self` in which `src` replaces the view that [`diagonal`](crate::diagonal) returns.
#[op_def(
    "diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor",
    plan,
    float8,
    out = "out"
)]
pub fn diagonal_scatter(_: ...) -> Result<Tensor>;

#[op_plan(diagonal_scatter)]
fn diagonal_scatter_plan(this: &Tensor, src: &Tensor, offset: i64, dim1: i64, dim2: i64) -> Result<Plan<()>> {
    view_scatter_plan(this, &diagonal(this, offset, dim1, dim2)?, src)
}

#[op_impl(diagonal_scatter, CompositeExplicitAutograd)]
fn diagonal_scatter_composite(_plan: &(), out: &mut Tensor, _: ...) -> Result<()> {
    copy_(out, this, false)?;
    copy_(&mut diagonal(out, offset, dim1, dim2)?, src, false)
}

/// A copy of `self` in which `src` replaces the view that [`as_strided`](crate::as_strided) returns.
#[op_def(
    "as_strided_scatter(Tensor self, Tensor src, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor",
    plan,
    float8,
    out = "out"
)]
pub fn as_strided_scatter(_: ...) -> Result<Tensor>;

#[op_plan(as_strided_scatter)]
fn as_strided_scatter_plan(_: ...) -> Result<Plan<Geometry>> {
    let view = as_strided(this, size, stride, storage_offset)?;
    let Plan { outputs, .. } = view_scatter_plan(this, &view, src)?;
    Ok(Plan { value: view.geometry().clone(), outputs })
}

#[op_impl(as_strided_scatter, CompositeExplicitAutograd)]
fn as_strided_scatter_composite(plan: &Geometry, out: &mut Tensor, this: &Tensor, src: &Tensor) -> Result<()> {
    let bytes = i64::try_from(this.storage().size()).unwrap_or(i64::MAX);
    let all = Geometry::contiguous(&[bytes / i64::try_from(this.dtype().size()).unwrap_or(1)]);
    // The view may contain elements of the storage that `this` does not contain, so the whole storage is copied.
    let memory = crate::clone(&this.restride(all)?, None)?;
    copy_(&mut memory.restride(plan.clone())?, src, false)?;
    copy_(out, &memory.restride(this.geometry().clone())?, false)
}

/// Returns the plan of an operator that replaces `view`, a view of `this`. The result has the strides of `this`, unless `this` is expanded
/// (stride 0).
fn view_scatter_plan(this: &Tensor, view: &Tensor, src: &Tensor) -> Result<Plan<()>> {
    if src.sizes() != view.sizes() {
        return Err(BadArgument::sizes("src", src.sizes(), view.sizes())
            .because("the view that it replaces has")
            .into());
    }
    let own = this.geometry();
    let shared = own.sizes().iter().zip(own.strides()).any(|(&size, &stride)| size > 1 && stride == 0);
    let same = Geometry::strided(own.sizes(), own.strides(), 0).filter(|_| !shared);
    let geometry = same.unwrap_or_else(|| Geometry::contiguous(own.sizes()));
    Ok(Plan::new((), [Spec { dtype: this.dtype(), geometry }]))
}
